import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createPool } from '@tessera/database-kit';
import { startSmtp, startStack } from '@tessera/local-stack';
import type { NoisyTenant } from './noise.ts';
import type { QuietTenant } from './quiet.ts';
import { type Answer, createSender, dataOf } from './sender.ts';

const NOISY_ADDRESS = '127.0.0.2';

/** The whole system with its default settings, a noisy tenant and a quiet one. */
export interface NoisySystem {
  readonly noisy: NoisyTenant;
  readonly quiet: QuietTenant;
  /** What became of the noise since the last call: how often each status was answered. */
  noted(): Readonly<Record<string, number>>;
  /** Restarts both services without the work that is left in their queues. */
  renew(): Promise<void>;
  stop(): Promise<void>;
}

/** What a noise may leave behind. */
const EMPTY_QUEUES = `
  DELETE FROM crm_jobs.job WHERE state < 'completed';
  UPDATE tenant_crm.imports SET status = 'cancelled' WHERE status IN ('pending', 'running');
  UPDATE tenant_crm.webhook_endpoints SET is_enabled = false;
  TRUNCATE tenant_crm.webhook_deliveries, tenant_crm.webhook_attempts, tenant_crm.outbox`;

export const startNoisySystem = async (): Promise<NoisySystem> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'tessera-noisy-'));
  const smtp = await startSmtp();
  const stack = await startStack({
    directory,
    from: 'bundle',
    postgresSettings: { max_wal_size: '4GB', checkpoint_timeout: '1h' },
    environmentOf: {
      identity: {
        REGISTRATION_ENABLED: 'true',
        SMTP_URL: smtp.url,
        MAIL_FROM: 'Tessera <no-reply@tessera.test>',
      },
    },
  });
  const pool = createPool(stack.postgres.url('crm'), {
    applicationName: 'bench',
    statementTimeout: 0,
    size: 1,
  });
  const { owner, viewer, person, other_owner, system_application } = stack.system;
  const sender = createSender(NOISY_ADDRESS);
  const [identity, crm] = [stack.identity.url, stack.crm.url];
  const signIn = async (
    { email, password }: { readonly email: string; readonly password: string },
    address: string,
  ): Promise<string> => {
    const own = createSender(address);
    const json = { email, password };
    const url = `${identity}/api/auth/login`;
    const { token } = dataOf<{ token: string }>(
      await own.send({ method: 'POST', url, json }),
      email,
    );
    own.close();
    return token;
  };
  const clientToken = async (): Promise<string> => {
    const { client_id, client_secret } = system_application;
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id,
      client_secret,
      scope: 'tenant.*.crm.contacts.*',
    });
    const answer = await sender.send({
      method: 'POST',
      url: `${identity}/api/oauth/token`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(form.toString()),
    });
    const { access_token: token } = JSON.parse(answer.text) as { access_token?: string };
    if (token === undefined) throw new Error(`No token for a client: ${answer.status}`);
    return token;
  };
  let counts: Record<string, number> = {};
  const note = (answer: Answer): Answer => {
    counts[answer.status] = (counts[answer.status] ?? 0) + 1;
    return answer;
  };
  const noisy = {
    identity,
    crm,
    system: stack.system,
    tokens: {
      owner: await signIn(owner, '127.0.1.1'),
      viewer: await signIn(viewer, '127.0.1.2'),
      person: await signIn(person, '127.0.1.3'),
    },
    sender,
    pool,
    smtp,
    note,
  };
  const quietToken = await signIn(other_owner, '127.0.1.4');
  const written = await sender.send({
    method: 'POST',
    url: `${crm}/api/crm/kb-articles`,
    token: quietToken,
    json: { title: 'Quiet', body: 'first' },
  });
  const quiet = {
    article: dataOf<{ id: string }>(written, 'an article').id,
    identity,
    crm,
    person: other_owner,
    tenant: other_owner.tenant_slug,
    token: quietToken,
    clientToken: await clientToken(),
    smtp,
  };
  return {
    noisy,
    quiet,
    noted() {
      const noted = counts;
      counts = {};
      return noted;
    },
    async renew() {
      await Promise.all([stack.identity.kill(), stack.crm.kill()]);
      await pool.query(EMPTY_QUEUES);
      smtp.hold(() => false);
      await Promise.all([stack.identity.start(), stack.crm.start()]);
    },
    async stop() {
      sender.close();
      // PostgreSQL ends a statement that is still running.
      await stack.stop();
      await pool.end();
      await smtp.stop();
      await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    },
  };
};
