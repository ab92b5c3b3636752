"""A chat model (llama.cpp) and an embedding model (MiniLM, in numpy) behind OpenAI's interface.

    serve.py FOLDER [PORT]      prints the port when it is ready; THREADS=2 for two threads
"""
import glob, json, os, select, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

CONTEXT, SLOTS, BATCH = 8192, 4, 128


class Embedder:
    """BERT of six layers with mean pooling, 384 dimensions, English."""

    def __init__(self, folder):
        weights = load_file(folder + "/model.safetensors")
        self.w = {k.removeprefix("bert."): v.astype(np.float32) for k, v in weights.items() if v.dtype != np.int64}
        self.tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)

    def norm(self, x, name):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-12) * self.w[name + ".weight"] + self.w[name + ".bias"]

    def linear(self, x, name):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def embed(self, text):
        ids = self.tokenizer.encode(text).ids
        n, e = len(ids), "embeddings."
        x = self.norm(self.w[e + "word_embeddings.weight"][ids] + self.w[e + "position_embeddings.weight"][:n] + self.w[e + "token_type_embeddings.weight"][0], e + "LayerNorm")
        for layer in range(6):
            p = f"encoder.layer.{layer}."
            q, k, v = (self.linear(x, p + "attention.self." + part).reshape(n, 12, 32).transpose(1, 0, 2) for part in ("query", "key", "value"))
            scores = np.exp(q @ k.transpose(0, 2, 1) / np.sqrt(32))
            mixed = (scores / scores.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(n, 384)
            x = self.norm(x + self.linear(mixed, p + "attention.output.dense"), p + "attention.output.LayerNorm")
            wide = self.linear(x, p + "intermediate.dense")
            wide = 0.5 * wide * (1 + np.tanh(0.7978845608 * (wide + 0.044715 * wide**3)))
            x = self.norm(x + self.linear(wide, p + "output.dense"), p + "output.LayerNorm")
        mean = x.mean(0)
        return mean / np.linalg.norm(mean), n


class Overflow(Exception):
    pass


class Chat:
    """A model of llama.cpp with sampling and a cache of beginnings."""

    def __init__(self, folder):
        sys.path.insert(0, folder + "/lib")
        import jinja2.sandbox
        import _llama_cpp_cpu as native

        self.lib, self.ffi = native.lib, native.ffi
        lib, ffi = self.lib, self.ffi
        lib.llama_backend_init()
        self.model = lib.llama_model_load_from_file(glob.glob(folder + "/chat/*.gguf")[0].encode(), lib.llama_model_default_params())
        self.vocab = lib.llama_model_get_vocab(self.model)
        params = lib.llama_context_default_params()
        params.n_ctx, params.n_seq_max, params.n_batch, params.n_ubatch, params.flash_attn = CONTEXT * SLOTS, SLOTS, 512, 512, False
        params.n_threads = params.n_threads_batch = int(os.environ.get("THREADS", "1"))
        self.context = lib.llama_init_from_model(self.model, params)
        environment = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        self.template = environment.from_string(ffi.string(lib.llama_model_chat_template(self.model, ffi.NULL)).decode())
        self.slots, self.used, self.lock = [[] for _ in range(SLOTS)], [0.0] * SLOTS, threading.Lock()

    def tokens(self, text):
        raw = text.encode()
        out = self.ffi.new("int32_t[]", len(raw) + 16)
        n = self.lib.llama_tokenize(self.vocab, raw, len(raw), out, len(raw) + 16, self.lib.llama_vocab_get_add_bos(self.vocab), True)
        return list(out[0:n])

    def read(self, slot, tokens, wanted):
        """Reads tokens into a slot, while the caller waits for them."""
        for at in range(0, len(tokens), BATCH):
            if not wanted():
                return False
            part = tokens[at : at + BATCH]
            batch = self.lib.llama_batch_init(len(part), 0, 1)
            batch.n_tokens = len(part)
            for i, token in enumerate(part):
                batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0] = token, len(self.slots[slot]) + i, 1, slot
                batch.logits[i] = i == len(part) - 1
            failed = self.lib.llama_decode(self.context, batch)
            self.lib.llama_batch_free(batch)
            if failed:
                raise RuntimeError("llama_decode: %d" % failed)
            self.slots[slot].extend(part)
        return True

    def choose(self, tokens):
        """The slot that begins most like the tokens, and how many of them it holds."""
        held = [next((i for i, (a, b) in enumerate(zip(slot, tokens)) if a != b), min(len(slot), len(tokens))) for slot in self.slots]
        slot = max(range(SLOTS), key=lambda s: (held[s], -self.used[s]))
        if held[slot] < 64:
            slot = min(range(SLOTS), key=lambda s: self.used[s])
        keep = min(held[slot], len(tokens) - 1)
        self.lib.llama_kv_self_seq_rm(self.context, slot, keep, -1)
        self.slots[slot], self.used[slot] = self.slots[slot][:keep], time.time()
        return slot, keep

    def answer(self, messages, most, temperature, wanted):
        for message in messages:
            message["content"] = message.get("content") or ""
        tokens = self.tokens(self.template.render(messages=messages, add_generation_prompt=True, bos_token="", eos_token=""))
        if len(tokens) >= CONTEXT:
            raise Overflow(len(tokens))
        lib, ffi = self.lib, self.ffi
        slot, cached = self.choose(tokens)
        if not self.read(slot, tokens[cached:], wanted):
            return None
        sampler = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
        for part in (lib.llama_sampler_init_top_k(40), lib.llama_sampler_init_top_p(0.95, 1), lib.llama_sampler_init_temp(temperature), lib.llama_sampler_init_dist(int(time.time() * 1000) & 0xFFFFFFFF)):
            lib.llama_sampler_chain_add(sampler, part)
        text, count, reason = b"", 0, "length"
        while count < min(most, CONTEXT - len(tokens)):
            token = lib.llama_sampler_sample(sampler, self.context, -1)
            if lib.llama_vocab_is_eog(self.vocab, token):
                reason = "stop"
                break
            piece = ffi.new("char[256]")
            size = lib.llama_token_to_piece(self.vocab, token, piece, 256, 0, False)
            text, count = text + ffi.buffer(piece, max(size, 0))[:], count + 1
            if not self.read(slot, [token], wanted):
                break
        lib.llama_sampler_free(sampler)
        return {
            "model": "smollm2-135m-instruct",
            "choices": [{"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": text.decode(errors="replace")}}],
            "usage": {"prompt_tokens": len(tokens), "completion_tokens": count, "prompt_tokens_details": {"cached_tokens": cached}},
        }


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def out(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def wanted(self):
        """Whether the caller has not hung up."""
        return not select.select([self.connection], [], [], 0)[0]

    def do_GET(self):
        self.out(200, {"data": [{"id": "smollm2-135m-instruct", "meta": {"n_ctx": CONTEXT, "n_params": 135e6}}, {"id": "all-minilm-l6-v2"}]})

    def do_POST(self):
        q = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/embeddings"):
            texts = q["input"] if isinstance(q["input"], list) else [q["input"]]
            found = [embedder.embed(text) for text in texts]
            return self.out(200, {"model": q.get("model"), "data": [{"index": i, "embedding": vector.tolist()} for i, (vector, _) in enumerate(found)], "usage": {"prompt_tokens": sum(n for _, n in found)}})
        try:
            with chat.lock:
                answer = chat.answer(q["messages"], q.get("max_completion_tokens") or q.get("max_tokens") or CONTEXT, max(q.get("temperature", 0.8), 0.01), self.wanted)
        except Overflow as e:
            return self.out(400, {"error": {"message": "the request exceeds the available context size", "type": "exceed_context_size_error", "n_prompt_tokens": e.args[0], "n_ctx": CONTEXT}})
        if answer:
            self.out(200, answer)


if __name__ == "__main__":
    chat, embedder = Chat(sys.argv[1]), Embedder(sys.argv[1] + "/embed")
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
