"""A distributed PyTorch training that goes on from its checkpoint on any number of workers.

    torchrun --nproc-per-node=2 elastic_train.py --steps 2000 [--every 100] [--die-at STEP]

Run by elastic_train.sh as an elastic job. Each step takes the same samples however many workers share them, so that
the loss does not depend on the number of workers but for rounding. Rank 0 keeps the state in MUSTER_CHECKPOINT_DIR:
written beside, flushed, renamed over. Asked by SIGTERM or SIGUSR1, all workers save after the same step and exit 85.
Rank 0 touches MUSTER_PROGRESS_FILE after each step, which tells a hang from work.
"""

import argparse
import os
import pathlib
import signal
import sys
import time

import torch
import torch.distributed as dist

BATCH = 840  # divides by 1 to 8 workers
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


def samples(step, rank, world, device):
    """This worker's part of the step's samples."""
    generator = torch.Generator().manual_seed(step)
    inputs = torch.randn(BATCH, 8, generator=generator)
    part = inputs[rank * BATCH // world:(rank + 1) * BATCH // world].to(device)
    return part, part.square().sum(1, keepdim=True).sqrt()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds added to each step")
    parser.add_argument("--die-at", type=int, default=-1, help="the last rank kills itself at this step, once")
    arguments = parser.parse_args()
    directory = os.environ.get("MUSTER_CHECKPOINT_DIR") or sys.exit(
        "elastic_train.py: MUSTER_CHECKPOINT_DIR names no directory")
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, "elastic.pt")
    asked = []
    for number in (signal.SIGUSR1, signal.SIGTERM):
        signal.signal(number, lambda number, frame: asked.append(number))

    gpu = torch.cuda.is_available()
    local = int(os.environ["LOCAL_RANK"])
    device = torch.device("cuda", local) if gpu else torch.device("cpu")
    if gpu:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if gpu else "gloo")
    rank, world = dist.get_rank(), dist.get_world_size()

    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)).to(device)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    step = 0
    if os.path.exists(path):
        state = torch.load(path, map_location="cpu", weights_only=True)
        model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
        step = state["step"]
    if rank == 0:
        print(f"elastic_train.py: {world} workers, step {step}, run {os.environ.get('MUSTER_ELASTIC_EPOCH', '-')}",
              flush=True)
    parallel = torch.nn.parallel.DistributedDataParallel(model, device_ids=[local] if gpu else None)
    progress = os.environ.get("MUSTER_PROGRESS_FILE")
    flag = torch.zeros(1, device=device)
    loss = torch.zeros(1, device=device)
    while step < arguments.steps:
        inputs, wanted = samples(step, rank, world, device)
        # Sums over the whole batch: DDP takes the mean over workers.
        loss = (parallel(inputs) - wanted).square().sum() * world / BATCH
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        step += 1
        if step == arguments.die_at and rank == world - 1 and os.environ.get("MUSTER_RESTART_COUNT", "0") == "0":
            os.kill(os.getpid(), signal.SIGKILL)
        flag.fill_(1.0 if asked else 0.0)
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)  # all leave after the same step
        leave = flag.item() > 0
        if rank == 0 and (leave or step % arguments.every == 0):
            save(path, {"model": model.state_dict(), "optimiser": optimiser.state_dict(), "step": step})
        if rank == 0 and progress:
            pathlib.Path(progress).touch()
        if leave:
            dist.barrier()  # no rank ends before the checkpoint is there
            os._exit(RUN_ME_AGAIN)
        if arguments.pause > 0:
            time.sleep(arguments.pause)
    total = loss.detach().clone()
    dist.all_reduce(total)
    if rank == 0:
        print(f"loss {total.item() / world:.6g} after {step} steps", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
