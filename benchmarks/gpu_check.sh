#!/usr/bin/env bash
# Is staticad right and fast on the GPU of this machine?  One table, in under eight minutes.
#
#   benchmarks/gpu_check.sh [--venv FOLDER] [--device NAME] [--size tiny|processor|gpu] [--out FOLDER]
#
# --venv makes a virtual environment and uses it; else python3 is used as it is ($PYTHON names
# another one).  What is missing there is installed with pip, whose own variables say from where
# (PIP_NO_INDEX, PIP_FIND_LINKS).  --device is "opencl:gpu" if not said; STATICAD_OPENCL_SEPARATE=1
# lets one on the processor stand for a GPU.  Every step has a time limit; one that fails is named
# at the end, and the next one goes on.  Logs and records are in --out.
set -u
cd "$(dirname "$0")/.." || exit 1

python=${PYTHON:-python3}
venv=
device=opencl:gpu
size=
out=out/gpu_check
while [ $# -gt 0 ]; do
  case $1 in
    --venv) venv=$2 ;;
    --device) device=$2 ;;
    --size) size=$2 ;;
    --out) out=$2 ;;
    *) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 2 ;;
  esac
  shift 2
done
mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -f "$out"/*.jsonl "$out"/*.log "$out"/steps.tsv
deadline=$((SECONDS + 470))
cores=$(getconf _NPROCESSORS_ONLN)
workers=$((cores < 8 ? cores : 8))
export BENCHMARK_THREADS=$cores
export PYTHONUNBUFFERED=1

# step NAME LIMIT COMMAND…: run it with a time limit, its output in NAME.log.
step() {
  local name=$1 limit=$2 began=$SECONDS left=$((deadline - SECONDS)) status said
  shift 2
  limit=$((limit < left ? limit : left))
  printf '%s …\n' "$name" >&2
  if [ "$limit" -lt 1 ]; then
    status=124
  else
    timeout -k 5 "$limit" "$@" >"$out/$name.log" 2>&1
    status=$?
  fi
  case $status in
    0) said=ok ;;
    124 | 137) said="over $limit s" ;;
    *) said="exit status $status" ;;
  esac
  printf '%s\t%s\t%s\n' "$name" "$((SECONDS - began))" "$said" >>"$out/steps.tsv"
  return "$status"
}

# Drivers in a container may come without the file that tells of them.
if ! ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 && [ -z "${OCL_ICD_VENDORS:-}" ] &&
  "$python" -c 'import ctypes; ctypes.CDLL("libnvidia-opencl.so.1")' 2>/dev/null; then
  mkdir -p "$out/vendors"
  echo libnvidia-opencl.so.1 >"$out/vendors/nvidia.icd"
  export OCL_ICD_VENDORS="$out/vendors"
fi

if [ -n "$venv" ]; then
  step venv 30 "$python" -m venv "$venv"
  python=$(cd "$venv" && pwd)/bin/python
fi
needed='import numpy, scipy, pyopencl, google.protobuf, ml_dtypes, safetensors, pytest, xdist, hypothesis, mpmath'
if [ -n "$venv" ] || ! "$python" -c "$needed" 2>/dev/null; then
  step install 100 "$python" -m pip install --quiet --disable-pip-version-check . \
    pytest pytest-xdist hypothesis mpmath
fi
export PYTHONPATH=.:schema:executor${PYTHONPATH:+:$PYTHONPATH}

step devices 40 "$python" -m staticad_executor devices
cat "$out/devices.log"

# Tests choose a platform by its description.
STATICAD_TEST_OPENCL=$("$python" - "$device" 2>"$out/platform.log" <<'EOF'
import sys
from staticad_executor.devices.opencl.discovery import select
found = select(sys.argv[1])
print(found.platform, found.platform_version)
EOF
)
if [ -z "$STATICAD_TEST_OPENCL" ]; then
  cat "$out/platform.log"
  echo "there is no device $device"
  exit 1
fi
export STATICAD_TEST_OPENCL

tests() {
  local name=$1 limit=$2 files=()
  shift 2
  for file in "$@"; do files+=("tests/executor/opencl/test_$file.py"); done
  step "$name" "$limit" "$python" -m pytest -q -n "$workers" -p no:cacheprovider "${files[@]}"
}
tests "tests_of_the_device" 50 runtime buffers transfer selftest small elementwise places halves
tests "tests_of_rows" 50 rows scatter sorting
tests "tests_of_products" 50 products
tests "tests_of_images" 50 convolution pooling

step kernels 90 "$python" benchmarks/opencl_kernels.py --devices "$device" --numpy --budget 0.1 \
  ${size:+--size "$size"} --json "$out/kernels.jsonl"
workloads=(mlp_train lenet_train resnet20_train lstm_train gpt_train gpt_infer eltwise_grad softmax_ln)
for each in "$device" numpy; do
  name=workloads_on_${each%%:*}
  step "$name" 70 "$python" -W ignore -m benchmarks.peer_staticad --device "$each" \
    --workload "${workloads[@]}" --budget 0.3
  grep '^{' "$out/$name.log" >>"$out/workloads.jsonl"
done

"$python" -m benchmarks.gpu_table "$out"
