"""Texts that show differences between tokenizers and their readers, with the ids of the reference library."""

# Package, text, ids without special tokens around the text.
TRAPS = [
    ("llama2", "Hello world", "22557 1526"),
    ("llama3", "Hello world", "9906 1917"),
    ("qwen2_5", "Hello world", "9707 1879"),
    ("gemma3", "Hello world", "9259 1902"),
    ("gpt4o", "Hello world", "13225 2375"),
    # A space that was typed, beside the one that the tokenizer adds.
    ("llama2", " Hello", "28705 22557"),
    ("llama3", " Hello", "22691"),
    ("gemma3", " Hello", "26352"),
    # The last space belongs to the next word.
    ("llama3", "a  b", "64 220 293"),
    ("gemma3", "a  b", "236746 138 236763"),
    ("llama2", "a  b", "264 28705 287"),
    # Groups of digits.
    ("llama3", "1234567", "4513 10961 22"),
    ("qwen2_5", "1234567", "16 17 18 19 20 21 22"),
    ("claude", "1234567", "18505 2421"),
    ("llama3", "\u0663\u0664\u0665\u0666", "117413 124079 124043 149 99"),
    ("qwen2_5", "\u0663\u0664\u0665\u0666", "149 96 149 97 149 98 149 99"),
    # Contractions.
    ("llama3", "DON'T don't", "85741 17773 1541 956"),
    ("gpt4o", "DON'T don't", "134882 51532 4128"),
    ("claude", "DON'T don't", "40 785 11 56 1605 828"),
    # Line ends.
    ("llama3", "\r\n\r\nx", "881 87"),
    ("gemma3", "\r\n\r\nx", "251 107 251 107 236781"),
    ("llama2", "\r\n\r\nx", "1302 13 28801 13 28744"),
    ("llama3", "!!!\n\n", "33157"),
    ("qwen2_5", "!!!\n\n", "32057"),
    ("claude", "!!!\n\n", "18834 448"),
    ("gpt4o", "x/y\n/", "87 52534 198 14"),
    # Normal forms.
    ("qwen2_5", "a\u0301", "1953"),
    ("llama3", "a\u0301", "64 54939"),
    ("claude", "a\u0301", "2273"),
    ("claude", "\u00bd\u2167", "21 4652 22 58 15349"),
    ("qwen2_5", "\u00bd\u2167", "26062 70467 100"),
    # White space.
    ("llama3", "a\u0085\u0085b", "64 116360 116360 65"),
    ("llama3", "\u180e\u180ex", "157 254 236 157 254 236 87"),
    ("llama3", "\ufeffx", "3305 87"),
    ("claude", "\ufeffx", "57538 92"),
    # Pieces that are tokens, though merges do not make them.
    ("llama3", " h\u1ee3p", "100827"),
    ("llama3", "mektedir", "102909"),
    # Bytes.
    ("llama2", "\u65e5\u672c\u8a9e", "28705 29142 29119 30321"),
    ("llama2", "\U0001f916", "28705 243 162 167 153"),
    ("llama2", "\u01c5", "28705 202 136"),
    # Added tokens.
    ("llama2", "a<s> b", "264 1 28705 287"),
    ("gemma3", "a<s> b", "236746 203 518"),
    ("gemma3", "a\n\nb", "236746 108 236763"),
    ("gemma3", "<h1>x</h1>", "184 236781 191"),
    ("gemma3", "<unused3>", "9"),
    ("gemma3", "\u2581\u2581x", "138 236781"),
    ("gemma3", "  x", "138 236781"),
    ("qwen2_5", "a<|im_start|>b <|im_end|> c", "64 151644 65 220 151645 272"),
    # Accents, the final sigma, the dotted I, ideographs, the limit of a word.
    ("bert", "Hello, unaffable na\u00efve Z\u00fcrich!", "7592 1010 14477 20961 3468 15743 10204 999"),
    ("bert", "don't \u0391\u03a3", "2123 1005 1056 1155 29733"),
    ("bert", "\u0130stanbul [MASK]", "9960 103"),
    ("bert", "\u65e5\u672c tokyo", "1864 1876 5522"),
    ("bert", "x" * 101, "100"),
]
# Package, ids, text.
DECODED = [
    ("llama3", "9468 97", "\ufffd"),
    ("llama2", "28705 243 162", "\ufffd\ufffd"),
]
