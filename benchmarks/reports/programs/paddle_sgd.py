# PaddlePaddle/Paddle#34514: gradient descent written by hand.
import random

import paddle


def synthetic_data(w, b, num_examples):
    X = paddle.normal(0, 1, (num_examples, len(w)))
    y = paddle.matmul(X, w) + b
    return X, y.reshape((-1, 1))


def data_iter(batch_size, features, labels):
    n = len(features)
    indices = list(range(n))
    random.shuffle(indices)
    for i in range(0, n, batch_size):
        j = paddle.to_tensor(indices[i : min(i + batch_size, n)])
        yield paddle.gather(features, j), paddle.gather(labels, j)


def linreg(X, w, b):
    return paddle.matmul(X, w) + b


def squared_loss(y_hat, y):
    return (y_hat - y.reshape(y_hat.shape)) ** 2 / 2


def sgd(params, lr, batch_size):
    for param in params:
        param[:] = param - lr * param.grad / batch_size  #~ param.set_value(param - lr * param.grad / batch_size)
        param.clear_grad()


true_w = paddle.to_tensor([2, -3.4])
features, labels = synthetic_data(true_w, 4.2, 20)
w = paddle.normal(0, 0.01, shape=(2, 1))
b = paddle.zeros(shape=[1])
w.stop_gradient = False
b.stop_gradient = False
for epoch in range(2):
    for X, y in data_iter(10, features, labels):
        l = squared_loss(linreg(X, w, b), y)
        l.sum().backward()
        sgd([w, b], 0.03, 10)
