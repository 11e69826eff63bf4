// Substitutes for the official images on machines without access to an image registry: Debian packages, and
// Node and Apache Kafka from npm and Maven.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install as installKafka, jars } from '../kafka/install.mjs';
import { digestOf, root } from './cache.mjs';
import { run } from './command.mjs';
import { bootstrapDebian, RELEASE } from './debian.mjs';
import { officialImages } from './images.mjs';

const NPM_VERSION = '11.21.2';
const FILES = ['Dockerfile', 'kafka.sh', 'mail.mjs', 'postgres.sh', 'redis.sh'];
const TARGETS = ['node', 'distroless', 'postgres', 'redis', 'kafka', 'mail'];
const DEBIAN = 'tessera-stand-in/debian';
const own = (file) => `infra/containers/stand-ins/${file}`;

/** Packages from npm, by their name in the Dockerfile. */
const npmPackages = (node) => {
  const { dependencies } = JSON.parse(
    readFileSync(join(root, 'packages/local-stack/package.json')),
  );
  return [
    `node@npm:node-linux-${process.arch}@${node.split(':')[1].split('-')[0]}`,
    `npm@${NPM_VERSION}`,
    ...['smtp-server', 'postal-mime'].map((name) => `${name}@${dependencies[name]}`),
  ];
};

/** Debian's files as an image. */
const importDebian = async (directory, environment, label) => {
  const files = join(directory, 'debian');
  const archive = join(directory, 'debian.tar');
  await bootstrapDebian(files);
  await run('tar', ['--create', '--file', archive, '--directory', files, '.']);
  await run('docker', ['import', '--change', `LABEL ${label}`, archive, DEBIAN], { environment });
};

/** The files that the Dockerfile copies. */
const fillContext = async (context, packages) => {
  mkdirSync(join(context, 'npm'), { recursive: true });
  for (const file of FILES) cpSync(join(root, own(file)), join(context, file));
  writeFileSync(join(context, 'npm/package.json'), '{}');
  const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
  await run('npm', ['install', ...options, '--prefix', join(context, 'npm'), ...packages]);
  installKafka();
  cpSync(dirname(jars), join(context, 'kafka/lib'), { recursive: true });
  const log4j = fileURLToPath(new URL('../kafka/log4j2.properties', import.meta.url));
  cpSync(log4j, join(context, 'kafka/log4j2.properties'));
};

/** Builds missing images and tags the base images with the names that Dockerfiles use. */
export const makeStandIns = async (environment) => {
  const official = officialImages();
  const node = official.find((image) => image.startsWith('node:'));
  const distroless = official.find((image) => image.includes('/distroless/'));
  const packages = npmPackages(node);
  const kafka = ['infra/kafka/pom.xml', 'infra/kafka/log4j2.properties'];
  const digest = digestOf([...FILES.map(own), ...kafka], RELEASE, ...packages);
  const label = `tessera.stand-in=${digest}`;
  const found = await run(
    'docker',
    ['image', 'ls', '--filter', `label=${label}`, '--format', '{{.Repository}}'],
    { environment },
  );
  const made = new Set(found.split('\n'));
  if (TARGETS.some((target) => !made.has(`tessera-stand-in/${target}`))) {
    const directory = mkdtempSync(join(tmpdir(), 'tessera-stand-ins-'));
    const context = join(directory, 'context');
    try {
      await Promise.all([
        importDebian(directory, environment, label),
        fillContext(context, packages),
      ]);
      const build = (target) =>
        run(
          'docker',
          [
            'build',
            '--network',
            'host',
            '--build-arg',
            `DEBIAN=${DEBIAN}`,
            '--label',
            label,
            '--target',
            target,
            '--tag',
            `tessera-stand-in/${target}`,
            context,
          ],
          { environment },
        );
      await Promise.all(TARGETS.map(build));
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  await run('docker', ['tag', 'tessera-stand-in/node', node], { environment });
  await run('docker', ['tag', 'tessera-stand-in/distroless', distroless], { environment });
};
