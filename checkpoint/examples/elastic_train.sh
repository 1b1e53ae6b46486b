#!/bin/bash
#MUSTER --elastic --nodes=1-4 --ntasks-per-node=1 --gpus-per-node=1 --cpus-per-task=4
#MUSTER --time=4:00:00 --replace-wait=10m --progress-timeout=10m --job-name=elastic-train
# A PyTorch training on as many nodes as there are, for `torchrun`, one on each node.
#
#   muster submit elastic_train.sh [--steps N …]
#
# Another number of nodes is another run of this script, from the last checkpoint:
#
#   a node is lost    the others are ended within seconds, and the script starts on those that are left;
#                     with fewer than one it waits for a replacement, with `--replace-wait` on its nodes
#   nodes come free   SIGTERM: the workers save and end; the script starts on all of them
#   a worker dies     torchrun ends, and so does the script with 85: "run me again"; a run that fails within a
#                     minute counts against policy.requeues_max, so an error in the program does not go round for ever
#   a worker hangs    nothing touches $MUSTER_PROGRESS_FILE any more, and --progress-timeout ends the run
#
# torchrun finds in its environment how many launchers meet and where: PET_NNODES, PET_NPROC_PER_NODE,
# PET_RDZV_BACKEND, PET_RDZV_ENDPOINT and PET_RDZV_ID. So say none of --nnodes, --rdzv-endpoint, --rdzv-id: within a
# run the number of nodes is fixed, and no launcher waits for others that may still come. The id is another one for each
# run and cannot be guessed, and the store ends with the run: launchers of an earlier run, of a node that was cut off,
# or of another job never meet those of this one. --max_restarts=0 leaves restarts to Muster, which knows
# whether the nodes are there.
directory=${ELASTIC_TRAIN:-$(dirname "$0")}
[ -e "$directory/elastic_train.py" ] || directory=$MUSTER_SUBMIT_DIR
muster run torchrun --max_restarts=0 "$directory/elastic_train.py" "$@" || exit 85
