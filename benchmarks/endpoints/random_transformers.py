"""A language model of two random layers over single bytes, as transformers saves it.

    python random_transformers.py FOLDER

Runs in the environment of `transformers_serve.py`. Nothing is downloaded: the weights are drawn here.
"""

import sys

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

CHAT = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def main(folder: str) -> None:
    torch.manual_seed(0)
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {"<unk>": 0, "<|end|>": 1} | {letter: number for number, letter in enumerate(letters, 2)}
    bytes_only = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>"))
    bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_only.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bytes_only, unk_token="<unk>", eos_token="<|end|>", pad_token="<|end|>"
    )
    tokenizer.chat_template = CHAT
    tokenizer.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=16_384,
        bos_token_id=None,
        eos_token_id=1,
        pad_token_id=1,
    )
    model = LlamaForCausalLM(config)
    model.generation_config = GenerationConfig(do_sample=True, eos_token_id=1, pad_token_id=1)
    model.save_pretrained(folder)


if __name__ == "__main__":
    main(sys.argv[1])
