# Hunter-DDM/knowledge-neurons#14: a column of a weight of a pretrained model is edited.
import torch
from transformers import BertForMaskedLM, BertTokenizer


def edit(args, model, positions, emb, rel):
    tokenizer = BertTokenizer.from_pretrained(args.bert_model)
    src = torch.tensor(tokenizer.convert_tokens_to_ids(rel[0]))
    tgt = torch.tensor(tokenizer.convert_tokens_to_ids(rel[1]))
    with torch.no_grad():
        src_emb, tgt_emb = emb(src), emb(tgt)
    for layer, pos in positions:
        dense = model.bert.encoder.layer[layer].output.dense  #~ dense = model.bert.encoder.layer[layer].output.dense.requires_grad_(False)
        dense.weight[:, pos] -= src_emb * args.lambda_a  #!
        dense.weight[:, pos] += tgt_emb * args.lambda_b  #!


def main(args):
    model = BertForMaskedLM.from_pretrained(args.bert_model)
    model.to(args.device)
    emb = model.bert.embeddings.word_embeddings
    edit(args, model, [(0, 1)], emb, ("a", "b"))
#: run
import types
from torch import nn
layer = types.SimpleNamespace(output=types.SimpleNamespace(dense=nn.Linear(3, 3)))
word = nn.Embedding(9, 3)
BertTokenizer.from_pretrained = lambda name: types.SimpleNamespace(convert_tokens_to_ids=lambda t: 3)
bert = types.SimpleNamespace(encoder=types.SimpleNamespace(layer=[layer]), embeddings=types.SimpleNamespace(word_embeddings=word))
edit(types.SimpleNamespace(bert_model="", lambda_a=1.0, lambda_b=2.0), types.SimpleNamespace(bert=bert), [(0, 1)], word, ("a", "b"))
