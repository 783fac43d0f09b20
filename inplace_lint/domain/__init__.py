"""The abstract domain: symbolic values, heap, tape and the state of one path. It knows neither syntax nor ops."""
