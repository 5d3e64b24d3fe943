from collections.abc import Iterator

import pytest
import torch

from tests.support.embedded.tiny_family import TinyFamily


@pytest.fixture(scope="session")
def family(tmp_path_factory: pytest.TempPathFactory) -> TinyFamily:
    """A target with a vocabulary of six and its drafters."""
    return TinyFamily(tmp_path_factory.mktemp("family"))


@pytest.fixture(autouse=True)
def _no_gradients_and_one_thread() -> Iterator[None]:
    """Models this small are fastest so, and beside other programs by far."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with torch.inference_mode():
        yield
    torch.set_num_threads(threads)
