// A plain stream: PUT writes the body to a file, waits until it is on the disk, and hashes it; GET sends the file.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { serve } from './listening.ts';

const path = process.env.FILE_PATH ?? '';

const receive = async (content: AsyncIterable<Uint8Array>): Promise<string> => {
  const hash = createHash('sha256');
  const file = await open(path, 'w');
  try {
    for await (const chunk of content) {
      hash.update(chunk);
      await file.appendFile(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest('hex');
};

const answer: RequestListener = async (req, res) => {
  if (req.method === 'PUT') return void res.end(await receive(req));
  res.setHeader('Content-Length', (await stat(path)).size);
  await pipeline(createReadStream(path), res);
};

serve(answer);
