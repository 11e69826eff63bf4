import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createBot } from '../../../testing/bots.ts';
import { chatTenant } from '../../../testing/chat.ts';

const run = promisify(execFile);
const tenant = chatTenant();
const { crm, channel, get } = tenant;

/** The repository; tests run in it. */
const GUIDE = join(process.cwd(), 'docs/bots.md');

test('The examples of the guide for bots work as they are written', async () => {
  const general = await channel();
  const { token } = await createBot(tenant, general);
  const examples = [...(await readFile(GUIDE, 'utf8')).matchAll(/^```bash\n(.*?)^```$/gms)];
  expect(examples.length).toBeGreaterThan(3);
  const cwd = await mkdtemp(join(tmpdir(), 'bot-guide-'));
  try {
    for (const [, script = ''] of examples) {
      const env = { PATH: process.env.PATH, CRM_URL: crm().url, BOT_TOKEN: token };
      await run('bash', ['-euo', 'pipefail', '-c', script], { cwd, env });
    }
  } finally {
    await rm(cwd, { recursive: true });
  }
  const { body } = await get(`${general}/messages`).expect(200);
  const shown = body.data.map((message: { body: string; file: { name: string } | null }) => [
    message.body,
    message.file?.name,
  ]);
  expect(shown).toEqual([
    ['Build 4712 passed.', undefined],
    ['The log of build 4711', 'build.log'],
    ['Build 4711 failed.', undefined],
  ]);
});
