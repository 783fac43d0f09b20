# f-dangel/singd#56: an optimizer that hooks the layers of a model with in-place activations.
from torch import rand
from torch.nn import Conv2d, CrossEntropyLoss, Flatten, Linear, Module, ReLU, Sequential
from torch.optim import Optimizer


class SINGD(Optimizer):
    def __init__(self, model, lr=0.001):
        self.stats = {}
        super().__init__(model.parameters(), dict(lr=lr))
        self.hooks = self._install_hooks(model)

    def _install_hooks(self, model):
        handles = []
        for module in model.modules():
            if isinstance(module, (Linear, Conv2d)):
                handles.append(module.register_forward_pre_hook(self._save_input))
                handles.append(module.register_full_backward_hook(self._save_output_grad))  #~ pass
        return handles

    def _save_input(self, module, inputs):
        self.stats[module] = inputs[0].detach()

    def _save_output_grad(self, module, grad_in, grad_out):
        self.stats[module] = grad_out[0].detach()

    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.data.add_(p.grad, alpha=-group["lr"])


model = Sequential(Conv2d(1, 1, 3), ReLU(inplace=True), Flatten(), Linear(9, 2))  #!
optim = SINGD(model)
output = model(rand(2, 1, 5, 5))
