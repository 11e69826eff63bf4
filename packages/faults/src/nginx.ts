import { open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort, superviseProcess, until } from '@tessera/local-stack';

type Service = 'identity' | 'crm';

/** nginx in front of the replicas of both services, with the configuration of docs/deployment.md. */
export interface Nginx {
  readonly urls: Readonly<Record<Service, string>>;
  stop(): Promise<void>;
}

const PAGE = new URL('../../../docs/deployment.md', import.meta.url);
const PORTS = { identity: 4000, crm: 4100 };

/** Replaces what matches; throws if nothing does, because the page has changed. */
const replaced = (text: string, pattern: RegExp, by: string): string => {
  const result = text.replace(pattern, by);
  if (result === text) throw new Error(`docs/deployment.md has nothing like ${pattern}.`);
  return result;
};

/** The documented configuration with other addresses, and without TLS. */
const configuration = async (
  replicas: Readonly<Record<Service, readonly string[]>>,
  ports: Readonly<Record<Service, number>>,
): Promise<string> => {
  const page = await readFile(PAGE, 'utf8');
  const [, documented = ''] = /tessera\.conf <<'END'\n([\s\S]*?)^END$/m.exec(page) ?? [];
  let text = replaced(documented, /^server \{\n {2}listen 80;[\s\S]*?^\}\n/m, '');
  text = replaced(text, /^ *(?:ssl_.*|listen \[::\].*)\n/gm, '');
  for (const service of ['identity', 'crm'] as const) {
    const server = new RegExp(`^ *server 127\\.0\\.0\\.1:${PORTS[service]}(.*)$`, 'm');
    const lines = replicas[service].map((url) => `  server ${new URL(url).host}$1`);
    text = replaced(text, server, lines.join('\n'));
    const host = service === 'identity' ? 'id' : 'crm';
    const listen = new RegExp(`listen 443 ssl http2;(\\s+)server_name ${host}\\.example\\.com;`);
    text = replaced(text, listen, `listen 127.0.0.1:${ports[service]};`);
  }
  return text;
};

/** Starts nginx (Debian: nginx-light) with its files in `directory`. */
export const startNginx = async (
  directory: string,
  replicas: Readonly<Record<Service, readonly string[]>>,
): Promise<Nginx> => {
  const ports = { identity: await freePort(), crm: await freePort() };
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${directory}/${name};`,
  );
  const file = path.join(directory, 'nginx.conf');
  await writeFile(
    file,
    `daemon off;
pid ${directory}/nginx.pid;
worker_processes 2;
events {}
http {
access_log off;
${paths.join('\n')}
${await configuration(replicas, ports)}
}
`,
  );
  const log = await open(path.join(directory, 'nginx.log'), 'a');
  const server = superviseProcess({
    command: 'nginx',
    args: ['-p', directory, '-c', file, '-e', 'stderr'],
    signal: 'SIGQUIT',
    environment: { PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
    output: log.fd,
  });
  await log.close();
  let hasEnded = false;
  void server.exited.then(() => {
    hasEnded = true;
  });
  const urls = {
    identity: `http://127.0.0.1:${ports.identity}`,
    crm: `http://127.0.0.1:${ports.crm}`,
  };
  const responds = (url: string) => fetch(url).then(Boolean, () => false);
  await until(async () => hasEnded || (await responds(urls.crm)));
  if (hasEnded) throw new Error(`nginx did not start; see ${directory}/nginx.log.`);
  return { urls, stop: () => server.stop() };
};
