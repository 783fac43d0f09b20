"""The numbers that prove a silent fault: each is what it is said to be, in a program without other faults."""

from __future__ import annotations

import pytest

from inplace_lint.report.i18n import catalogue


def test_a_number_of_a_list_names_the_item(prover):
    source = """
        import torch

        a = torch.zeros(3)
        hist = []
        for i in range(3):
            a += i
            hist.append(a)
        print(sum(float(h.sum()) for h in hist))
    """
    prover.write(source)
    assert prover.run().reasons == ["the sum of `hist[0]` is 9 and should be 0, by importing the file"]


def test_a_number_of_a_dict_in_a_result_names_the_path(prover):
    source = """
        import torch


        def main():
            a, kept = torch.zeros(3), {"first": []}
            for i in range(3):
                a += i
                kept["first"].append(a)
            print(kept["first"][0])
            return kept
    """
    prover.write(source)
    assert prover.run().reasons == ["the sum of part ['first'][0] of the result is 9 and should be 0, by `main()`"]


def test_other_faults_of_the_program_are_repaired_in_both_runs(prover):
    source = """
        import torch

        w = torch.full((3,), 2.0, requires_grad=True)
        h = (w * 1).exp()
        kept = [h]
        h *= 2
        (h.sum() + kept[0].sum()).backward()
        print(w.grad)
    """
    prover.write(source)
    proved = prover.run()
    assert proved.verdicts == [("IPL101", 7, "confirmed"), ("IPL304", 7, "confirmed")]
    # e² is 7.38906: 12 e² where both terms are doubled, 9 e² where one is
    assert proved.reasons[1] == "the sum of the gradient of `w` is 88.6687 and should be 66.5015, by importing the file"


def test_the_words_for_a_part_have_their_chinese():
    reason = "the sum of part [0] of the result is 9 and should be 0, by `main()`"
    assert catalogue("zh").say(reason) == "返回结果的 [0] 部分的总和为 9，应为 0（`main()`）"


FORMS = {
    "what was written to a copy is stored back": (
        """
        import torch

        h = torch.tensor([[1.0, -2.0], [3.0, -4.0]])
        h[h < 0].fill_(0)
        rows = h[[0]]
        rows *= 10
        h[[1]][0] = 5
        """,
        [
            "the sum of `h` is -2 and should be 4, by importing the file",
            "the sum of `h` is -2 and should be -11, by importing the file",
            "the sum of `h` is -2 and should be 9, by importing the file",
        ],
    ),
    "a call whose value is used writes apart": (
        """
        import torch


        def main():
            out = torch.full((2,), 3.0)
            square = out.pow_(2)
            return square / out
        """,
        ["the sum of the result is 2 and should be 6, by `main()`"],
    ),
    "a model is kept as a copy": (
        """
        import torch


        def main():
            torch.manual_seed(0)
            net = torch.nn.Linear(1, 1, bias=False)
            opt = torch.optim.SGD(net.parameters(), lr=1.0)
            best, kept = float("inf"), None
            for step in range(2):
                opt.zero_grad()
                loss = (net(torch.ones(1, 1)) - step).abs().sum()
                loss.backward()
                opt.step()
                if loss.item() < best:
                    best, kept = loss.item(), net
            return kept
        """,
        ["part `.weight` of the result is 1.99251 and should be 0.992513, by `main()`"],
    ),
    "a tensor that a list has several times": (
        """
        import torch


        def main():
            rows = [torch.zeros(3)] * 2
            rows[0] += 1
            return rows
        """,
        ["the sum of part [1] of the result is 3 and should be 0, by `main()`"],
    ),
    "numbers that are not finite are counted, and the rest are summed": (
        """
        import torch

        row = torch.full((3,), float("-inf"))
        rows = []
        for at in range(2):
            row[at] = at + 1.0
            rows.append(row)
        print(rows[0])
        """,
        ["the count of numbers that are not finite in `rows[0]` is 1 and should be 2, by importing the file"],
    ),
    "whole numbers are compared by position": (
        """
        import torch

        order = torch.arange(3)
        kept = []
        for _ in range(2):
            order[0], order[2] = int(order[2]), int(order[0])
            kept.append(order)
        print(kept[0])
        """,
        ["the sum of cumulative sums of `kept[0]` is 4 and should be 8, by importing the file"],
    ),
    "an assertion holds or not": (
        """
        import torch


        def check():
            a = torch.zeros(2)
            kept = []
            for step in range(2):
                a += 1
                kept.append(a)
            assert torch.equal(kept[0], kept[1])


        registry = {"run": "check"}
        globals()[registry["run"]]()
        """,
        ["the truth of the assertion in line 11 is 1 and should be 0, by importing the file"],
    ),
    "an object other than a layer is compared by its attributes": (
        """
        import torch


        class History:
            def __init__(self):
                self.total, self.kept = torch.zeros(2), []

            def __call__(self, x):
                for step in range(2):
                    self.total += step + 1
                    self.kept.append(self.total)
                print(self.kept[0])
        """,
        ["the sum of part [0] of the attribute `kept` is 6 and should be 2, by `History()`"],
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_the_form_without_the_fault_has_other_numbers(prover, name):
    source, reasons = FORMS[name]
    prover.write(source)
    assert prover.run().reasons == reasons
