# NVlabs/VILA#199: the output of an embedding whose gradient the trainer asked for.
import torch
import torch.nn as nn


class LlavaMetaForCausalLM(nn.Module):
    def __init__(self, config, llm, vision_tower):
        super().__init__()
        self.config, self.llm, self.vision_tower = config, llm, vision_tower

    def embed(self, input_ids, media):
        text_embeds = self.llm.model.embed_tokens(input_ids)
        if media is not None:
            feats = self.vision_tower(media)
            text_embeds += feats.mean() * 0.0  #~ text_embeds = text_embeds + feats.mean() * 0.0
        return text_embeds

    def forward(self, input_ids, labels, media=None):
        return self.llm(inputs_embeds=self.embed(input_ids, media), labels=labels)


def make_inputs_require_grad(module, input, output):
    output.requires_grad_(True)


def prepare(model, training_args):
    for p in model.llm.parameters():
        p.requires_grad = False
    if training_args.gradient_checkpointing:
        model.llm.model.embed_tokens.register_forward_hook(make_inputs_require_grad)
    return model


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Module()
        self.model.embed_tokens = nn.Embedding(5, 3)
        self.head = nn.Linear(3, 5)

    def forward(self, inputs_embeds, labels):
        return nn.functional.cross_entropy(self.head(inputs_embeds).flatten(0, 1), labels.flatten())


class TrainingArgs:
    gradient_checkpointing = True


if __name__ == "__main__":
    model = prepare(LlavaMetaForCausalLM({}, LM(), nn.Linear(4, 3)), TrainingArgs())
    ids = torch.tensor([[1, 2]])
    model(ids, ids, torch.rand(2, 4)).backward()
