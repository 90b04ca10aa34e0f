"""Text that wants to be more than text."""

from __future__ import annotations

from hypothesis import strategies as st

PIECES = (
    "@alice", "@", "#12", "#", "GH-7", "GH", "-7", "o/r#5", "Fixes ", "closes: ", "https://github.com/o/r/issues/5",
    "https://x.example/a_(b)#12", "http://", "https://", "www.x.example", "www", "ftp://x.example", "mailto:a@b.example",
    "a@b.example", "<b>", "</b>", "<", ">", "<!--", "-->", "<!-- hz:approve p-1 aa -->", "<!-- hz:end -->", "<script>",
    "<details>", "</details>", "<pre>", "<https://x.example>", "[ ]", "[x]", "[X] ", "- [ ] ", "- [x] ", "1. ", "1) ", "- ", "+ ",
    "* ", "> ", "# ", "## ", "---", "===", "***", "```", "~~~", "````", "`", "``", "`a`", "    ", "  ", "\t", "|", "|---|", ":-", ":-:",
    "[a](https://x.example)", "[a](javascript:x)", "[a](../issues/1)", "![i](https://x.example/p.png)", "[a][1]", "[1]: https://x.example",
    "](x)", "](", "[", "]", "(", ")", "\\", "\\\\", "\\@", "\\#", "&", "&amp;", "&#64;", "&commat;", "&#35;", "&#x202e;", "&lt;", "&#97;lice",
    "*", "**", "_", "__", "~~", "$", "$$", "!", "\n", "\n\n", "\r\n", "\r", "\u2028", "\u202e", "\u200b", "\u200d", "\x00", "\x1b[31m",
    ":tada:", "a", "b c", "12", "é", "اردو", "🧑‍💻", "\ufeff", "\u00ad", "\ud800", "{{ x }}", "snake_case",
)  # fmt: skip

hostile = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=6)), max_size=14).map("".join)
