import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { extract } from 'tar-stream';
import { run } from './command.mjs';

/** Larger files are programs and data; their content is not inspected. */
const READ_BYTES = 4_000_000;

/** The files of a container's file system, with the text of small files. */
const entriesOf = async (container, environment) => {
  const child = spawn('docker', ['export', container], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const entries = [];
  for await (const entry of child.stdout.pipe(extract())) {
    const { name, type, mode, size } = entry.header;
    const isRead = type === 'file' && size <= READ_BYTES;
    if (!isRead) entry.resume();
    const text = isRead ? (await buffer(entry)).toString('latin1') : '';
    entries.push({ path: name.replace(/^\.\/|\/$/g, ''), type, mode, size, text });
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`docker export ended with ${code}.`);
  return entries;
};

/**
 * What an image consists of: `entries` of its file system, the `config` that containers start with, the
 * `history` of its layers, and its `size`, the sum of its files in bytes.
 */
export const readImage = async (name, environment) => {
  const docker = (...args) => run('docker', args, { environment });
  const [{ Config: config }] = JSON.parse(await docker('image', 'inspect', name));
  const history = await docker('history', '--no-trunc', '--format', '{{.CreatedBy}}', name);
  const container = (await docker('create', '--network', 'none', name)).trim();
  try {
    const entries = await entriesOf(container, environment);
    const size = entries.reduce((sum, entry) => sum + (entry.size ?? 0), 0);
    return { config, history: history.split('\n'), entries, size };
  } finally {
    await run('docker', ['rm', container], { environment, isCleaning: true });
  }
};
