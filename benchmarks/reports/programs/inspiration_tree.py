# google/inspiration_tree#25: learned vectors are put into the table of a text encoder.
import torch
from diffusers import StableDiffusionPipeline


def load_tokens(pipe, data, device):
    added = []
    for t_ in data.keys():
        added.append(t_)
    num_added = pipe.tokenizer.add_tokens(added)
    pipe.text_encoder.resize_token_embeddings(len(pipe.tokenizer))
    for token_ in data.keys():
        ids = pipe.tokenizer.convert_tokens_to_ids(pipe.tokenizer.tokenize(token_))
        vector = data[token_].to(device).to(dtype=torch.float16)
        pipe.text_encoder.get_input_embeddings().weight[ids[0]] = vector  #~ pipe.text_encoder.get_input_embeddings().weight.data[ids[0]] = vector


def main(path, device="cuda"):
    pipe = StableDiffusionPipeline.from_pretrained(path, torch_dtype=torch.float16).to(device)
    load_tokens(pipe, torch.load("learned.bin"), device)
    return pipe
#: run
import types
from torch import nn
table = nn.Embedding(4, 3).half()
class Tok:
    def add_tokens(self, a): return 1
    def __len__(self): return 4
    def tokenize(self, t): return [t]
    def convert_tokens_to_ids(self, t): return [2]
enc = types.SimpleNamespace(resize_token_embeddings=lambda n: None, get_input_embeddings=lambda: table)
load_tokens(types.SimpleNamespace(tokenizer=Tok(), text_encoder=enc), {"a": torch.zeros(3)}, "cpu")
