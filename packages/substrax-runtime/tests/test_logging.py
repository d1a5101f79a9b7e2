import io
import logging

import pytest

from substrax.runtime import configure_entry_point_logging

from processes import run_python


@pytest.fixture(autouse=True)
def root():
    """The root logger, given back with the level and the handlers that pytest knows."""
    logger = logging.getLogger()
    level, handlers = logger.level, list(logger.handlers)
    yield logger
    logger.setLevel(level)
    for handler in [handler for handler in logger.handlers if handler not in handlers]:
        logger.removeHandler(handler)


def test_records_go_to_the_stream_as_the_format_says():
    stream = io.StringIO()

    configure_entry_point_logging(stream=stream, fmt="%(levelname)s %(message)s")
    logging.getLogger("demo").info("hello")
    logging.getLogger("demo").debug("not this")

    assert stream.getvalue() == "INFO hello\n"


def test_a_second_call_replaces_the_handler_of_the_first_and_no_other(root, caplog):
    first, second = io.StringIO(), io.StringIO()
    before = list(root.handlers)

    configure_entry_point_logging(stream=first)
    configure_entry_point_logging(stream=second)
    logging.getLogger("demo").info("hello")

    assert (first.getvalue(), second.getvalue(), caplog.messages) == ("", "hello\n", ["hello"])
    assert [handler for handler in before if handler not in root.handlers] == []
    assert len(root.handlers) == len(before) + 1


def test_the_stream_is_standard_error_as_it_is_at_the_call(capsys):
    configure_entry_point_logging()
    logging.getLogger("demo").info("hello")

    assert capsys.readouterr() == ("", "hello\n")


def test_what_other_handlers_get_is_not_cut_down(root):
    other = logging.StreamHandler(everything := io.StringIO())
    root.addHandler(other)
    root.setLevel(logging.DEBUG)

    configure_entry_point_logging(logging.ERROR, stream=(ours := io.StringIO()))
    logging.getLogger("demo").debug("detail")

    assert (everything.getvalue(), ours.getvalue()) == ("detail\n", "")


def test_a_second_call_can_ask_for_less(root):
    root.setLevel(logging.WARNING)

    configure_entry_point_logging("DEBUG", stream=io.StringIO())
    configure_entry_point_logging(logging.INFO, stream=(stream := io.StringIO()))
    logging.getLogger("demo").debug("detail")

    assert (root.level, stream.getvalue()) == (logging.INFO, "")


def test_a_level_that_somebody_else_has_set_since_is_kept(caplog):
    configure_entry_point_logging(stream=io.StringIO())

    with caplog.at_level(logging.DEBUG):
        configure_entry_point_logging(stream=io.StringIO())
        logging.getLogger("demo").debug("detail")

    assert caplog.messages == ["detail"]


@pytest.mark.parametrize("options", [{"level": "LOUD"}, {"fmt": "no field"}], ids=["level", "format"])
def test_a_bad_argument_changes_nothing(root, options):
    before = (root.level, list(root.handlers))

    with pytest.raises(ValueError):
        configure_entry_point_logging(**options)

    assert (root.level, list(root.handlers)) == before


def test_it_works_where_standard_error_is_a_real_one():
    code = """
import logging
from substrax.runtime import configure_entry_point_logging
configure_entry_point_logging()
configure_entry_point_logging()
logging.info("once")
"""
    assert run_python("-c", code) == (0, "", "once\n")
