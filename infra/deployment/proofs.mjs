import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { ask, askJson, open } from './client.mjs';

const IDENTITY = 'https://id.example.com';
const CRM = 'https://crm.example.com';

const isTrue = (fact, problem) => {
  if (!fact) throw new Error(problem);
};

const until = async (holds, problem) => {
  for (const deadline = Date.now() + 30_000; !(await holds()); await setTimeout(50)) {
    isTrue(Date.now() < deadline, problem);
  }
};

const command = (name, ...args) => execFileSync(name, args, { encoding: 'utf8' }).trim();
const mainPid = (unit) => command('systemctl', 'show', '--value', '--property=MainPID', unit);

const cookiesOf = ({ headers }) => headers['set-cookie'] ?? [];
const asSent = (cookies) => cookies.map((cookie) => cookie.split(';', 1)[0]).join('; ');

/** Signs in through the API, as applications do. */
const login = ({ email, password }, options, expected = 200) =>
  askJson(`${IDENTITY}/api/auth/login`, expected, { json: { email, password }, ...options });

/** All URLs of the discovery document must be reachable by clients. */
const discovery = async () => {
  const document = await askJson(`${IDENTITY}/.well-known/openid-configuration`, 200);
  isTrue(document.issuer === IDENTITY, `The issuer is ${document.issuer}`);
  const foreign = Object.entries(document).filter(
    ([name, value]) => /_(endpoint|uri)$/.test(name) && !value.startsWith(`${IDENTITY}/`),
  );
  isTrue(foreign.length === 0, `Not behind the proxy: ${JSON.stringify(foreign)}`);
  const plain = await ask('http://id.example.com/sign-in');
  isTrue(
    plain.status === 308 && plain.headers.location === `${IDENTITY}/sign-in`,
    `Without TLS the answer is ${plain.status} ${plain.headers.location}`,
  );
};

const signInForm = async () => {
  const page = await ask(`${IDENTITY}/sign-in`);
  const hidden = Object.fromEntries(
    [...page.body.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(
      ([, name, value]) => [name, value],
    ),
  );
  return { page, hidden };
};

/** The sign-in page sets host-only, TLS-only cookies and accepts only forms from itself. */
const signInPage = async ({ owner }) => {
  const { page, hidden } = await signInForm();
  const send = (origin, site) =>
    ask(`${IDENTITY}/sign-in`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        cookie: asSent(cookiesOf(page)),
        origin,
        'sec-fetch-site': site,
      },
      body: `${new URLSearchParams({ ...hidden, email: owner.email, password: owner.password })}`,
    });
  const foreign = await send('https://evil.example', 'cross-site');
  isTrue(foreign.status === 403, `A form from another site got the response ${foreign.status}`);
  const own = await send(IDENTITY, 'same-origin');
  isTrue([302, 303].includes(own.status), `The form got the response ${own.status}: ${own.body}`);
  const cookies = [...cookiesOf(page), ...cookiesOf(own)];
  isTrue(
    cookies.some((cookie) => cookie.startsWith('__Host-session=')),
    `No session cookie: ${cookies}`,
  );
  const unsafe = cookies.filter((cookie) => !/^__Host-[^;]+;.*; Secure/.test(cookie));
  isTrue(unsafe.length === 0, `Cookies allowed without TLS: ${unsafe}`);
};

/**
 * The activity log and rate limits must use the client's address, not the proxy's, and ignore forged headers.
 */
const clientAddress = async ({ owner }) => {
  const spoofed = (last) => ({ 'x-forwarded-for': `198.51.100.${last}` });
  const { data } = await login(owner, { from: '203.0.113.8', headers: spoofed(1) });
  const { data: entries } = await askJson(`${IDENTITY}/api/profile/activity?per_page=5`, 200, {
    token: data.token,
  });
  const addresses = entries.map((entry) => entry.ip_address);
  isTrue(addresses[0] === '203.0.113.8', `The activity log contains the addresses ${addresses}`);
  const wrong = { email: 'nobody@example.com', password: 'wrong' };
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await login(wrong, { from: '203.0.113.9', headers: spoofed(attempt) }, 401);
  }
  await login(wrong, { from: '203.0.113.9', headers: spoofed(9) }, 429);
  await login(owner, { from: '203.0.113.7' });
};

/** A form with a file that is larger than the proxy lets other bodies be. */
const largeForm = () => {
  const part = 'Content-Disposition: form-data; name="file"; filename="large.txt"';
  return Buffer.concat([
    Buffer.from(`--part\r\n${part}\r\nContent-Type: text/plain\r\n\r\n`),
    Buffer.alloc(21 * 1024 * 1024, 'a'),
    Buffer.from('\r\n--part--\r\n'),
  ]);
};

/** CRM must accept identity's tokens and large files; system routes must not be reachable through the proxy. */
const crm = async ({ token }) => {
  await askJson(`${CRM}/api/crm/contacts`, 401);
  await askJson(`${CRM}/api/crm/contacts`, 201, { token, json: { first_name: 'Ágnes' } });
  const found = await askJson(`${CRM}/api/crm/contacts?search=agnes`, 200, { token });
  isTrue(found.data.length === 1, `${found.data.length} contacts were found`);
  const uploaded = await ask(`${CRM}/api/crm/documents`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'multipart/form-data; boundary=part',
    },
    body: largeForm(),
  });
  isTrue(uploaded.status === 201, `A large file is answered with ${uploaded.status}`);
  const inside = await ask(`${CRM}/api/crm/system/storage-usage`);
  isTrue(
    inside.status === 404 && !inside.body.includes('request_id'),
    'System routes are reachable through the proxy',
  );
};

const finishedExports = () =>
  command('journalctl', '--unit', 'tessera-identity', '--output=cat', '--no-pager').match(
    /"operation":"exportTenantActivity"/g,
  )?.length ?? 0;

/**
 * Exports must be streamed to the client: while the client does not read, the export does not finish.
 */
const streamedExport = async ({ token, owner, rows }) => {
  const path = `/api/tenants/${owner.tenantId}/activity/export?format=csv`;
  const headers = { authorization: `Bearer ${token}` };
  const answer = await open(`${IDENTITY}${path}`, { headers });
  isTrue(answer.statusCode === 200, `The export is answered with ${answer.statusCode}`);
  await once(answer, 'readable');
  // A second export bypasses the proxy, starts later and is read completely; by then an unbuffered first one
  // would have finished too.
  const direct = await ask(`http://127.0.0.1:4000${path}`, { headers, from: '127.0.0.1' });
  isTrue(direct.status === 200, `The second export is answered with ${direct.status}`);
  await until(() => finishedExports() > 0, 'No line of the second export');
  isTrue(finishedExports() === 1, 'The proxy buffers exports');
  let lines = 0;
  for await (const _ of createInterface({ input: answer })) lines += 1;
  isTrue(lines > rows, `The export has ${lines} lines of ${rows}`);
  await until(() => finishedExports() === 2, 'No line of the export');
};

/** Metrics must only be reachable from the internal network. */
const metrics = async () => {
  for (const host of [IDENTITY, CRM]) {
    const { status } = await ask(`${host}/metrics`);
    isTrue(status === 404, `${host}/metrics is answered with ${status}`);
  }
  for (const port of [9400, 9500]) {
    const inside = await ask(`http://127.0.0.1:${port}/metrics`, { from: '127.0.0.1' });
    isTrue(inside.status === 200, `The metrics are answered with ${inside.status}`);
    const outside = await ask(`http://203.0.113.1:${port}/metrics`).catch(({ code }) => code);
    isTrue(outside === 'ECONNREFUSED', `Port ${port} is publicly reachable`);
  }
};

/** Each service must run as its own unprivileged user, without secrets in its environment. */
const confinement = () => {
  for (const service of ['identity', 'crm']) {
    const pid = mainPid(`tessera-${service}`);
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const uid = command('id', '--user', `tessera-${service}`);
    for (const expected of [
      `Uid:\t${uid}\t`,
      'CapEff:\t0000000000000000',
      'NoNewPrivs:\t1',
      'Seccomp:\t2',
    ]) {
      isTrue(status.includes(expected), `${service} runs without "${expected}":\n${status}`);
    }
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
    for (const file of command('ls', `/etc/tessera/${service}`).split('\n')) {
      const secret = readFileSync(`/etc/tessera/${service}/${file}`, 'utf8').trim();
      isTrue(!environment.includes(secret), `${file} is in the environment of ${service}`);
    }
    const places = ['/etc/tessera', '/etc/nginx/tessera'];
    const { stdout } = spawnSync(
      'setpriv',
      [
        `--reuid=tessera-${service}`,
        `--regid=tessera-${service}`,
        '--clear-groups',
        'find',
        ...places,
        '-type',
        'f',
        '-readable',
      ],
      { encoding: 'utf8' },
    );
    const open = stdout.split('\n').filter((file) => file && !file.endsWith('/certificate.pem'));
    isTrue(open.length === 0, `tessera-${service} can read ${open}`);
  }
};

/** The owner of one database must not be able to connect to the other. */
const databases = () => {
  const [url] = readFileSync('/etc/tessera/crm/database-url', 'utf8').split('\n');
  const foreign = url.replace(/\/tessera_crm$/, '/tessera_identity');
  let connects = true;
  try {
    execFileSync('psql', [foreign, '--command=SELECT 1'], { stdio: 'ignore' });
  } catch {
    connects = false;
  }
  isTrue(!connects, "CRM's role can connect to identity's database");
};

/** A killed service must restart automatically, and a restarted one must keep its state. */
const restarts = async ({ token }) => {
  const before = mainPid('tessera-identity');
  // 0, the id of a service that does not run, would end this process and its group.
  isTrue(Number(before) > 1, 'identity does not run');
  process.kill(Number(before), 'SIGKILL');
  await until(async () => (await ask(`${IDENTITY}/readyz`)).status === 200, 'identity stays away');
  isTrue(mainPid('tessera-identity') !== before, 'identity was not killed');
  command('systemctl', 'restart', 'tessera-identity', 'tessera-crm');
  await stillThere({ token });
};

/** Existing state must be preserved: a token is valid and a record is found. */
export const stillThere = async ({ token }) => {
  await askJson(`${IDENTITY}/api/me`, 200, { token });
  const found = await askJson(`${CRM}/api/crm/contacts?search=agnes`, 200, { token });
  isTrue(found.data.length === 1, `${found.data.length} contacts were found`);
};

/** Services must stop cleanly. */
export const stopsInOrder = () => {
  for (const unit of ['tessera-crm', 'tessera-identity']) {
    command('systemctl', 'stop', unit);
    const result = command('systemctl', 'show', '--value', '--property=Result', unit);
    isTrue(result === 'success', `${unit} ended with ${result}`);
  }
};

/** The problems that systemd reports for a unit file; it exits with 0 even for unknown settings. */
const complaints = (file) => {
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
  return stderr || (status === 0 ? '' : `It ended with ${status}`);
};

/**
 * The unit files must only contain known settings and have a low exposure score; a misspelt setting must be
 * detected.
 */
export const units = () => {
  for (const name of ['tessera-identity', 'tessera-crm']) {
    const file = `/etc/systemd/system/${name}.service`;
    const found = complaints(file);
    isTrue(found === '', `${file}: ${found}`);
    const exposure = command(
      'systemd-analyze',
      'security',
      '--offline=true',
      '--threshold=15',
      '--no-pager',
      file,
    );
    console.log(exposure.split('\n').at(-1));
  }
  const planted = '/tmp/planted.service';
  const text = readFileSync('/etc/systemd/system/tessera-crm.service', 'utf8');
  writeFileSync(planted, text.replace('ProtectSystem=', 'ProtectSytem='));
  isTrue(complaints(planted).includes('ProtectSytem'), 'A misspelt setting is not detected');
};

export const backups = () => {
  for (const service of ['identity', 'crm']) {
    const file = `/var/backups/tessera/${service}.dump`;
    isTrue(existsSync(file), `There is no ${file}`);
    isTrue((statSync(file).mode & 0o077) === 0, `Others than root can read ${file}`);
    const tables = command('pg_restore', '--list', file).match(/TABLE DATA/g) ?? [];
    isTrue(tables.length > 3, `${file} holds ${tables.length} tables`);
  }
};

/** Checks to run after following the document up to its verification. */
export const proofs = {
  discovery,
  signInPage,
  clientAddress,
  crm,
  streamedExport,
  metrics,
  confinement,
  databases,
  restarts,
};
export { login };
