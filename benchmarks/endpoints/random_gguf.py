"""A language model of two random layers over single bytes, as a GGUF file: `python random_gguf.py FILE`.

Runs in the environment of `llama_cpp.py`. Nothing is downloaded: the weights are drawn here.
"""

import sys

import gguf
import numpy as np

LAYERS, WIDTH, HEADS, INNER = 2, 64, 4, 128
CONTEXT_TOKENS = 16_384
SPECIAL = ("<unk>", "<s>", "</s>")


def main(path: str) -> None:
    random = np.random.default_rng(0)
    tokens = [*SPECIAL, *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    kinds += [gguf.TokenType.BYTE] * 256
    # The printable characters once more as tokens of their own: a grammar chooses among whole texts.
    letters = [chr(code) for code in range(33, 127)]
    tokens += ["\u2581", *letters]
    kinds += [gguf.TokenType.NORMAL] * (1 + len(letters))

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("random")
    writer.add_context_length(CONTEXT_TOKENS)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)

    def weights(name: str, *shape: int) -> None:
        writer.add_tensor(name, random.normal(0, 0.05, shape).astype(np.float32))

    weights("token_embd.weight", len(tokens), WIDTH)
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"{block}.{name}.weight", np.ones(WIDTH, dtype=np.float32))
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            weights(f"{block}.{name}.weight", WIDTH, WIDTH)
        weights(f"{block}.ffn_gate.weight", INNER, WIDTH)
        weights(f"{block}.ffn_up.weight", INNER, WIDTH)
        weights(f"{block}.ffn_down.weight", WIDTH, INNER)
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, dtype=np.float32))
    output = random.normal(0, 0.05, (len(tokens), WIDTH)).astype(np.float32)
    # Louder than the others, for or against: or a quoted text would run into the limit nearly always.
    output[tokens.index('"')] *= 12
    writer.add_tensor("output.weight", output)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(sys.argv[1])
