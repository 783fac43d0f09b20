# dasguptar/treelstm.pytorch#26: a pretrained table is copied into the embedding.
import torch
import torch.nn as nn

from . import Constants
from .dataset import SICKDataset
from .vocab import Vocab


class TreeLSTM(nn.Module):
    def __init__(self, vocab_size, in_dim, mem_dim, sparsity, freeze):
        super(TreeLSTM, self).__init__()
        self.emb = nn.Embedding(vocab_size, in_dim, padding_idx=Constants.PAD, sparse=sparsity)
        if freeze:
            self.emb.weight.requires_grad = False
        self.fc = nn.Linear(in_dim, mem_dim)


def load_word_vectors(vocab, emb):
    return vocab, emb


def main(args):
    vocab = Vocab(filename=args.vocab)
    model = TreeLSTM(vocab.size(), args.input_dim, args.mem_dim, args.sparse, args.freeze_embed)
    criterion = nn.KLDivLoss()
    glove_vocab, glove_emb = load_word_vectors(args.glove, torch.zeros(args.size, args.input_dim))
    emb = torch.zeros(vocab.size(), glove_emb.size(1), dtype=torch.float)
    emb.normal_(0, 0.05)
    for word in vocab.labelToIdx.keys():
        if glove_vocab.getIndex(word):
            emb[vocab.getIndex(word)] = glove_emb[glove_vocab.getIndex(word)]
    model.emb.weight.copy_(emb)  #~ model.emb.weight.data.copy_(emb)
    return model, criterion
#: stubs
STUBS["pkg.Constants"].PAD = 0
#: run
import types
Vocab.size = lambda self: 5
one = Vocab(filename="")
one.labelToIdx = {}
globals()["Vocab"] = lambda filename: one
one.size = lambda: 5
main(types.SimpleNamespace(vocab="", input_dim=3, mem_dim=2, sparse=False, freeze_embed=False, glove=None, size=4))
