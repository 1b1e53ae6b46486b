"""A small PyTorch training that goes on from its checkpoint: the directory convention, without the library.

    MUSTER_CHECKPOINT_DIR=state python3 train.py --steps 2000 [--every 100] [--die-at STEP]

State (model, optimiser, step, random numbers) is one file in MUSTER_CHECKPOINT_DIR, written beside
it, flushed, and renamed over it. SIGUSR1 or SIGTERM ask for a checkpoint and exit code 85:
"checkpointed, run me again". It uses a GPU where there is one, and ends with the loss of an
undisturbed run (on one kind of device, to the last bit).
"""

import argparse
import os
import signal
import sys

import torch

RUN_ME_AGAIN = 85


def save(path, state):
    temporary = path + ".tmp"
    with open(temporary, "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
    directory = os.open(os.path.dirname(path), os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument("--die-at", type=int, default=-1)
    arguments = parser.parse_args()
    directory = os.environ.get("MUSTER_CHECKPOINT_DIR")
    if not directory:
        sys.exit("train.py: MUSTER_CHECKPOINT_DIR names no directory")
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, "train.pt")

    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)).to(device)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    step = 0
    if os.path.exists(path):
        state = torch.load(path, map_location="cpu", weights_only=True)
        model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["random"])
        step = state["step"]
        print(f"train.py: going on at step {step}", file=sys.stderr)

    asked = []
    for number in (signal.SIGUSR1, signal.SIGTERM):
        signal.signal(number, lambda number, frame: asked.append(number))
    loss = torch.tensor(0.0)
    while step < arguments.steps:
        inputs = torch.randn(64, 8).to(device)  # of the CPU's random numbers: the same on any device
        wanted = inputs.square().sum(1, keepdim=True).sqrt()
        loss = torch.nn.functional.mse_loss(model(inputs), wanted)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        step += 1
        if step == arguments.die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if asked or step % arguments.every == 0:
            save(path, {"model": model.state_dict(), "optimiser": optimiser.state_dict(),
                        "random": torch.get_rng_state(), "step": step})
        if asked:
            sys.exit(RUN_ME_AGAIN)
    print(f"{loss.item():.17g}")


if __name__ == "__main__":
    main()
