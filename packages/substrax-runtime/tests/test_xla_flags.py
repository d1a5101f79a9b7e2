import pytest
from hypothesis import given
from hypothesis import strategies as st

from substrax.runtime import XlaFlagConflictError, merge_xla_flags, parse_xla_flags

from strategies import flag_lists


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        pytest.param("", {}, id="empty"),
        pytest.param(" \t\r\n", {}, id="blank"),
        pytest.param("--a=1\t--b=2\r\n --c=3", {"--a": "1", "--b": "2", "--c": "3"}, id="any blank separates"),
        pytest.param("--a=1\x0b--b=2", {"--a": "1\x0b--b=2"}, id="a vertical tab is no blank to XLA"),
        pytest.param("--a=1 --a=1", {"--a": "1"}, id="the same value twice counts once"),
        pytest.param("--a", {"--a": None}, id="a bare flag has no value"),
        pytest.param("--a=", {"--a": ""}, id="nothing after the equals sign is an empty value"),
        pytest.param("--a=''", {"--a": ""}, id="empty quotes are an empty value"),
        pytest.param("--a=b=c", {"--a": "b=c"}, id="the first equals sign splits"),
        pytest.param("--a-b_C9=1", {"--a-b_C9": "1"}, id="letters, digits, hyphen and underscore make a name"),
        pytest.param("--a='x  y' --b=\"x\ty\"", {"--a": "x  y", "--b": "x\ty"}, id="quotes hold blanks"),
        pytest.param(r'--a="x\"\\\n"', {"--a": r'x"\n'}, id="a backslash escapes within double quotes"),
        pytest.param(r"--a='x\'", {"--a": "x\\"}, id="a backslash is itself within single quotes"),
        pytest.param(r"--a=x\ --b", {"--a": "x\\", "--b": None}, id="a backslash is itself outside of quotes"),
        pytest.param("--a=x'y'", {"--a": "x'y'"}, id="quotes further inside are characters"),
        pytest.param("--a='x'--b=3", {"--a": "x", "--b": "3"}, id="a flag may touch a closing quote"),
        pytest.param("--z=1 --a=2", {"--z": "1", "--a": "2"}, id="the order is kept"),
    ],
)
def test_flags_are_read_as_xla_reads_them(text, flags):
    parsed = parse_xla_flags(text)

    assert (parsed, list(parsed)) == (flags, list(flags))


def test_two_values_for_one_flag_are_a_conflict():
    with pytest.raises(XlaFlagConflictError) as caught:
        parse_xla_flags("--a=1 --b --a=2")

    assert (caught.value.flag, caught.value.existing, caught.value.requested) == ("--a", "1", "2")


LOST = "stops reading there and drops every flag after it; write it as --name or --name=value, or leave it out"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("--a junk --b", f"'junk' is no flag, and XLA {LOST}", id="a word without dashes"),
        pytest.param(
            "junk --b",
            "'junk' is no flag, and XLA takes it for a file name; write it as --name or --name=value, or leave it out",
            id="a word without dashes in front",
        ),
        pytest.param("--a # why", f"'#' is no flag, and XLA {LOST}", id="a comment"),
        pytest.param("\u2013xla_a=1", "'–xla_a=1' has '–' (EN DASH) for a hyphen; write --xla_a=1", id="en dash"),
        pytest.param("-\u2014xla_a", "'-—xla_a' has '—' (EM DASH) for a hyphen; write --xla_a", id="em dash"),
        pytest.param(
            "--xla\u2011a=1",
            "'--xla‑a=1' has '‑' (NON-BREAKING HYPHEN) for a hyphen; write --xla-a=1",
            id="dash inside",
        ),
        pytest.param(
            "'--a=1 --b'",
            "it is wrapped in quotes, which XLA takes for the beginning of a file name; write it without them",
            id="the whole value in single quotes",
        ),
        pytest.param(
            '"--a=1"',
            "it is wrapped in quotes, which XLA takes for the beginning of a file name; write it without them",
            id="the whole value in double quotes",
        ),
        pytest.param(
            "${XLA_FLAGS} --a=1",
            "'${XLA_FLAGS}' was not expanded; use double quotes in the shell, or write the flags themselves",
            id="an unexpanded variable in front",
        ),
        pytest.param(
            "--a=1 $MORE",
            "'$MORE' was not expanded; use double quotes in the shell, or write the flags themselves",
            id="an unexpanded variable",
        ),
        pytest.param(
            "--a='x y", "the quote that opens in \"--a='x\" is not closed; close it with '", id="an open quote"
        ),
        pytest.param(
            '--a="x\\"', 'the quote that opens in \'--a="x\\\\"\' is not closed; close it with "', id="an escaped quote"
        ),
        pytest.param(
            "/etc/xla.flags",
            "it names a flag file, which cannot be merged; write the flags that are in '/etc/xla.flags' here",
            id="a flag file",
        ),
        pytest.param(
            "--a='x'y --b",
            "XLA drops what follows the closing quote of --a='x' and every flag after it; put a blank between",
            id="text after a closing quote",
        ),
        pytest.param(
            "-a=1", "'-a=1' is no flag, since a name follows exactly two hyphens; write --a=1", id="one hyphen"
        ),
        pytest.param(
            "---a", "'---a' is no flag, since a name follows exactly two hyphens; write --a", id="three hyphens"
        ),
        pytest.param("--", "'--' is no flag, since a name follows exactly two hyphens; write --name", id="no name"),
        pytest.param(
            "--a,--b",
            "'--a,--b' is no flag, since a name has only letters, digits, '-' and '_'; end it with a blank or '='",
            id="a comma for a blank",
        ),
        pytest.param(
            "--.a=1",
            "'--.a=1' is no flag, since a name has only letters, digits, '-' and '_'; end it with a blank or '='",
            id="another character in front",
        ),
        pytest.param("--a=\0", "no environment variable can hold it; leave out what is no text", id="NUL"),
    ],
)
def test_what_is_no_flag_is_refused_with_its_usual_cause(text, reason):
    with pytest.raises(ValueError) as caught:
        parse_xla_flags(text)

    assert str(caught.value) == f"XLA_FLAGS is {text!r}: {reason}"


@pytest.mark.parametrize(
    ("existing", "requested", "on_conflict", "merged"),
    [
        pytest.param(" --a=1   --b ", [], "raise", "--a=1 --b", id="single spaces between"),
        pytest.param("", ["--b", "--a"], "raise", "--b --a", id="new flags in the order requested"),
        pytest.param("--a=1 --b=2", ["--c", "--a=1"], "raise", "--a=1 --b=2 --c", id="what is there keeps its place"),
        pytest.param("--a='1'", ["--a=1"], "raise", "--a='1'", id="quotes make no other value"),
        pytest.param("--a='' --b", ["--c='x y'"], "raise", "--a='' --b --c='x y'", id="spellings are kept"),
        pytest.param("--a='x'--b", [], "raise", "--a='x' --b", id="flags that touch come apart"),
        pytest.param("--l=5 --m", ["--l=4"], "keep", "--l=5 --m", id="keep"),
        pytest.param("--l=5 --m", ["--l=4"], "replace", "--l=4 --m", id="replace"),
        pytest.param(
            "--a=1 --b --a=2", ["--a=2"], "raise", "--a=2 --b", id="of an inherited repetition the last counts"
        ),
        pytest.param("--a", ["--a=true"], "keep", "--a", id="with and without a value are two values"),
    ],
)
def test_flags_merge_by_name(existing, requested, on_conflict, merged):
    assert merge_xla_flags(existing, requested, on_conflict=on_conflict) == merged


@pytest.mark.parametrize(
    ("existing", "requested", "conflict"),
    [
        pytest.param("--l=5", ["--l=4"], ("--l", "5", "4"), id="another value"),
        pytest.param("--a=1 --a=2", ["--a=1"], ("--a", "2", "1"), id="the overruled value of a repetition"),
        pytest.param("--a", ["--a=true"], ("--a", None, "true"), id="with and without a value"),
        pytest.param("", ["--a=1", "--a=2"], ("--a", "1", "2"), id="two requests"),
    ],
)
def test_a_different_value_is_a_conflict(existing, requested, conflict):
    with pytest.raises(XlaFlagConflictError) as caught:
        merge_xla_flags(existing, requested)

    assert (caught.value.flag, caught.value.existing, caught.value.requested) == conflict


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        pytest.param(
            ("", ["--a=x y"]),
            {},
            ValueError,
            "requested is '--a=x y': white space separates flags, so XLA would read more than one; give each flag by "
            'itself, or quote a value that holds white space: --a="x y"',
            id="bare white space in a value",
        ),
        pytest.param(
            ("", ['--a=say "hi"']),
            {},
            ValueError,
            "requested is '--a=say \"hi\"': white space separates flags, so XLA would read more than one; give each flag by "
            'itself, or quote a value that holds white space: --a="say \\"hi\\""',
            id="bare white space beside quotes",
        ),
        pytest.param(
            ("", ["--a --b"]),
            {},
            ValueError,
            "requested is '--a --b': white space separates flags, so XLA would read more than one; give each flag by itself",
            id="two flags in one",
        ),
        pytest.param(
            ("", [""]),
            {},
            ValueError,
            "requested holds '', expected a flag such as '--xla_dump_to=/tmp/xla'",
            id="empty",
        ),
        pytest.param(
            ("", ["junk"]), {}, ValueError, f"requested is 'junk': 'junk' is no flag, and XLA {LOST}", id="no flag"
        ),
        pytest.param(
            ("", [3]),
            {},
            TypeError,
            "requested holds 3, expected a string such as '--xla_dump_to=/tmp/xla'",
            id="no string",
        ),
        pytest.param(
            ("", "--a"),
            {},
            TypeError,
            "requested is '--a', expected a sequence of flags such as ['--a']",
            id="one string",
        ),
        pytest.param(
            ("", []),
            {"on_conflict": "ignore"},
            ValueError,
            "on_conflict is 'ignore', expected 'raise', 'keep' or 'replace'",
            id="an unknown policy",
        ),
    ],
)
def test_a_merge_that_makes_no_sense_is_refused(arguments, options, error, message):
    with pytest.raises(error) as caught:
        merge_xla_flags(*arguments, **options)

    assert str(caught.value) == message


@given(flag_lists, st.sampled_from([" ", "\t", "\n", "  \r\n "]))
def test_reading_is_the_inverse_of_writing(flags, blank):
    text = blank.join(spelling for _, _, spelling in flags)

    assert parse_xla_flags(text) == {name: value for name, value, _ in flags}


@given(flag_lists, flag_lists)
def test_a_merge_holds_the_flags_of_both_and_the_requested_win_when_replacing(existing, requested):
    merged = merge_xla_flags(
        " ".join(spelling for *_, spelling in existing), [spelling for *_, spelling in requested], on_conflict="replace"
    )

    expected = {name: value for name, value, _ in existing} | {name: value for name, value, _ in requested}
    assert parse_xla_flags(merged) == expected
    assert list(parse_xla_flags(merged)) == list(expected)


@given(flag_lists)
def test_merging_twice_changes_nothing(flags):
    once = merge_xla_flags("", [spelling for *_, spelling in flags])

    assert merge_xla_flags(once, [spelling for *_, spelling in flags]) == once
