"""The numbers that prove a silent fault: each is what it is said to be, in a program without other faults."""

from __future__ import annotations

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
