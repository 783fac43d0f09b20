# TeenLucifer/grpo_reproduce#11: a list of split log probabilities is shifted by a reference.
import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM, AutoTokenizer


class GRPOTrainer:
    def __init__(self, model, ref_model, config):
        self.model, self.ref_model, self.config = model, ref_model, config
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"])

    def log_probs(self, model, ids):
        logits = model(ids)
        logp = F.log_softmax(logits[:, :-1], dim=-1)
        return logp.gather(2, ids[:, 1:, None]).squeeze(-1)

    def step(self, ids, rewards):
        advantages = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
        policy = self.log_probs(self.model, ids)
        with torch.no_grad():
            ref = self.log_probs(self.ref_model, ids)
        total = 0.0
        for logp, base, adv in zip(policy.split(1), ref.split(1), advantages):
            logp -= base  #~ logp = logp - base
            total = total - (logp.exp() * adv).mean()
        self.optimizer.zero_grad()
        total.backward()
        self.optimizer.step()
        return total.item()
#: run
mk = lambda: torch.nn.Sequential(torch.nn.Embedding(5, 3), torch.nn.Linear(3, 5))
GRPOTrainer(mk(), mk(), {"lr": 0.1}).step(torch.randint(0, 5, (3, 4)), torch.rand(3))
