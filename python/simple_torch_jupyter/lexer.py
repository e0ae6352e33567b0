"""A Pygments lexer of Simple, for nbconvert and other programs that print highlighted source."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, bygroups, combined, include, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

__all__ = ["SimpleLexer"]  # Pygments reads it

_KEYWORDS = (
    "fn me val var let const static struct class enum trait impl mixin extern use import export mod pub type alias "
    "if elif else for while loop match case return break continue pass in is not and or xor as self super async await "
    "yield spawn with defer unsafe move mut where true false nil"
)
_BUILTINS = (
    "print println print_raw eprint eprintln assert attempt panic exit input len range enumerate zip sorted reversed "
    "min max sum any all abs round type_of isinstance getattr setattr hasattr next iter Some None Ok Err int float str "
    "text bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64"
)
KEYWORDS, BUILTINS = _KEYWORDS.split(), _BUILTINS.split()
_NAME = r"[^\W\d]\w*"


class SimpleLexer(RegexLexer):
    """The tokens of Simple. What strings interpolate is highlighted as code."""

    name = "Simple"
    aliases: ClassVar = ["simple", "spl"]
    filenames: ClassVar = ["*.spl"]
    mimetypes: ClassVar = ["text/x-simple"]

    tokens: ClassVar = {
        "root": [
            (r"^(%%?\w+|!)([^\n]*)", bygroups(Name.Decorator, String.Other)),
            include("code"),
        ],
        "code": [
            (r"[#@]\[", Name.Decorator, "attribute"),
            (rf"^([ \t]*)(@{_NAME}[\w.]*)", bygroups(Whitespace, Name.Decorator)),
            (r"\s+", Whitespace),
            (r"#[^\n]*", Comment.Single),
            (r"/\*", Comment.Multiline, "comment"),
            (r'f"""', String, combined("interpolated block", "interpolation")),
            (r'r?"""', String, "block"),
            (r'r"[^"]*"?', String),
            (r'f?"', String, combined("interpolated", "interpolation")),
            (r"'(\\.|[^'\\\n])*'?", String.Single),
            include("numbers"),
            (rf"\b(fn|me)(\s+)({_NAME})", bygroups(Keyword, Whitespace, Name.Function)),
            (rf"\b(class|struct|enum|trait|mixin)(\s+)({_NAME})", bygroups(Keyword, Whitespace, Name.Class)),
            (rf"(\.)({_NAME})", bygroups(Punctuation, Name)),
            (words(KEYWORDS, prefix=r"\b", suffix=r"\b"), Keyword),
            (words(BUILTINS, prefix=r"\b", suffix=r"\b"), Name.Builtin),
            (_NAME, Name),
            (r"\.\.[.=]?|->|=>|\?\?|\?\.|[-+*/%=<>!&|^~?@\\$]+", Operator),
            (r"[()\[\]{},:;.]", Punctuation),
        ],
        "numbers": [
            (r"0[xX][\da-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+", Number),
            (r"\d[\d_]*(\.\d[\d_]*([eE][+-]?\d+)?|[eE][+-]?\d+)(f32|f64)?", Number.Float),
            (r"\d[\d_]*([iu](8|16|32|64)|f32|f64)?", Number.Integer),
        ],
        "attribute": [(r"[^\]]+", Name.Decorator), (r"\]", Name.Decorator, "#pop")],
        "comment": [
            (r"[^*/]+", Comment.Multiline),
            (r"/\*", Comment.Multiline, "#push"),
            (r"\*/", Comment.Multiline, "#pop"),
            (r"[*/]", Comment.Multiline),
        ],
        "block": [(r'"""', String, "#pop"), (r'[^"]+|"', String)],
        "interpolated": [(r'"', String, "#pop"), (r"\n", Whitespace, "#pop")],
        "interpolated block": [(r'"""', String, "#pop"), (r'"|\n', String)],
        "interpolation": [
            (r"\{\{|\}\}", String),
            (r"\\(u\{[\da-fA-F]+\}|.)", String.Escape),
            (r"\{(?=[^\"'\\}\s])", String.Interpol, "interpolated code"),
            (r'[^"{}\\\n]+|[{}\\]', String),
        ],
        "interpolated code": [
            (r":[<>^]?[-+]?[\d.,]*[a-zA-Z%]?(?=\})", String.Interpol),
            (r"\}", String.Interpol, "#pop"),
            (r"\{", Punctuation, "#push"),
            (r"\n", Whitespace, "#pop"),
            include("code"),
        ],
    }
