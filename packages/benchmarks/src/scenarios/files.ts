import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Listening } from '../floors/listening.ts';
import { startProgram } from '../program.ts';
import { type Bench, type Result, type Scenario, UnexpectedResponses } from '../scenario.ts';

const MIB = 1024 * 1024;

/** The share of a plain stream's throughput that a transfer should reach. */
const TARGET = 0.8;

/** How far resident memory may grow while a file of any size passes. */
const GROWTH = 200 * MIB;

/** How often memory is read during a transfer. */
const SAMPLE_MS = 200;

/** Bytes that do not repeat within a chunk and differ from chunk to chunk, made with little CPU time. */
function* bytes(size: number): Generator<Buffer> {
  const chunk = Buffer.from(Array.from({ length: 64 * 1024 }, (_, index) => (index * 7919) % 251));
  for (let sent = 0; sent < size; sent += chunk.length) {
    chunk.writeBigUInt64LE(BigInt(sent), 0);
    yield Buffer.from(chunk.subarray(0, Math.min(chunk.length, size - sent)));
  }
}

interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The bytes to send; none if undefined. */
  readonly size?: number;
}

/** Sends one request; returns the body as text if it is short, and how many bytes it had. */
const exchange = async ({ method, url, headers = {}, size }: Exchange) => {
  const sent = request(url, { method, headers: { ...headers } });
  if (size !== undefined) sent.setHeader('Content-Length', size);
  const answered = new Promise<Readable & { statusCode?: number }>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject);
  });
  const [response] = await Promise.all([answered, pipeline(Readable.from(bytes(size ?? 0)), sent)]);
  let received = 0;
  let text = '';
  for await (const chunk of response as AsyncIterable<Buffer>) {
    received += chunk.length;
    if (received < 100_000) text += chunk;
  }
  const status = response.statusCode ?? 0;
  if (status >= 300) throw new UnexpectedResponses(`${method} ${url}: ${status} ${text}`);
  return { received, text };
};

/** One transfer: its time and CPU time. */
interface Transfer {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

const timed = async (
  cpu: () => Promise<number>,
  work: () => Promise<unknown>,
): Promise<Transfer> => {
  const [before, begin] = [await cpu(), performance.now()];
  await work();
  const seconds = (performance.now() - begin) / 1000;
  return { seconds, cpuSeconds: (await cpu()) - before };
};

/** The growth of memory during work, in bytes. */
const growth = async (
  memory: () => Promise<number>,
  work: () => Promise<Transfer>,
): Promise<{ transfer: Transfer; grown: number }> => {
  const before = await memory();
  let most = before;
  const timer = setInterval(
    () => void memory().then((now) => (most = Math.max(most, now))),
    SAMPLE_MS,
  );
  try {
    const transfer = await work();
    return { transfer, grown: Math.max(most, await memory()) - before };
  } finally {
    clearInterval(timer);
  }
};

const measure = async (bench: Bench, folder: string): Promise<readonly Result[]> => {
  const { system, options } = bench;
  const size = options.smoke ? MIB : 1000 * MIB;
  const program = startProgram('floors/files', { FILE_PATH: path.join(folder, 'floor') });
  try {
    const floor = await program.ask<Listening>({});
    const floorCpu = async () => (await program.ask<Listening>({})).cpuSeconds;
    const crmCpu = () => system.cpu('crm');
    const headers = {
      authorization: `Bearer ${await system.signIn('owner')}`,
      'content-type': 'application/octet-stream',
    };
    const documents = `${system.stack.crm.url}/api/crm/documents`;
    const form = new FormData();
    form.append('file', new Blob(['first']), 'bench.bin');
    const created = await fetch(documents, {
      method: 'POST',
      headers: { authorization: headers.authorization },
      body: form,
    });
    const { data } = (await created.json()) as { data?: { id: string } };
    if (!data) throw new UnexpectedResponses(`POST ${documents}: ${created.status}`);
    const put = { method: 'PUT', size };
    const get = async (given: Exchange) => {
      const { received } = await exchange(given);
      if (received !== size) throw new UnexpectedResponses(`${given.url}: ${received} bytes`);
    };
    const url = `${documents}/${data.id}`;
    const pairs = [
      {
        what: 'upload',
        floor: () => exchange({ method: 'PUT', url: floor.url, size }),
        subject: () => exchange({ ...put, url: `${url}/content`, headers }),
      },
      {
        what: 'download',
        floor: () => get({ method: 'GET', url: floor.url }),
        subject: () => get({ method: 'GET', url: `${url}/download`, headers }),
      },
    ];
    const results: Result[] = [];
    for (const { what, ...pair } of pairs) {
      const plain = await timed(floorCpu, pair.floor);
      const { transfer, grown } = await growth(
        () => system.memory('crm'),
        () => timed(crmCpu, pair.subject),
      );
      const ratio = plain.seconds / transfer.seconds;
      const rate = ({ seconds, cpuSeconds }: Transfer) =>
        `${Math.round(size / MIB / seconds)} MiB/s, ${((cpuSeconds * 1000 * MIB) / size).toFixed(2)} ms of CPU per MiB`;
      results.push({
        what: `${what} of ${size / MIB} MiB`,
        ratio,
        remark: `${rate(transfer)}; the plain stream ${rate(plain)}; memory grew by ${Math.round(grown / MIB)} MiB`,
        target: {
          text: `>= ${TARGET}, memory < ${GROWTH / MIB} MiB`,
          isMet: ratio >= TARGET && grown < GROWTH,
        },
      });
    }
    return results;
  } finally {
    await program.stop();
  }
};

/** Upload and download of a large file beside a plain stream. */
export const files: Scenario = {
  name: 'files',
  async run(bench) {
    const folder = await mkdtemp(path.join(tmpdir(), 'tessera-bench-files-'));
    try {
      return await measure(bench, folder);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};
