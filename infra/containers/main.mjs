// Verifies that docker-compose.yml and both images work as described in the README. Every step throws on
// failure.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { seedAccounts } from './accounts.mjs';
import { proveAlone } from './alone.mjs';
import { proveMail, provePicture, proveWorks } from './api.mjs';
import { writeBuildFile } from './build.mjs';
import { interruptCommands } from './command.mjs';
import { faultsOf } from './contents.mjs';
import { startEngine } from './engine.mjs';
import { provePlanted } from './faults.mjs';
import { readImage } from './image.mjs';
import { APPS } from './images.mjs';
import { killEach } from './kills.mjs';
import { createProject } from './project.mjs';
import { createReport, megabytes } from './report.mjs';
import { proveConfinement } from './runtime.mjs';
import { proveStop } from './stops.mjs';
import { followPages, followStart } from './walk.mjs';

const { values } = parseArgs({ options: { 'own-engine': { type: 'boolean', default: false } } });

const report = createReport();
const { step } = report;
const directory = mkdtempSync(join(tmpdir(), 'tessera-verification-'));
const projects = [];
let engine;
let isInterrupted = false;

const checkImages = async () => {
  for (const app of APPS) {
    const name = `tessera/${app}:verification`;
    const image = await readImage(name, engine.environment);
    report.note(`size of ${name}`, megabytes(image.size));
    const faults = faultsOf(image);
    if (faults.length > 0) {
      const lines = faults.map(({ rule, what }) => `  ${rule}: ${what}`).join('\n');
      throw new Error(`The image of ${app} has faults:\n${lines}`);
    }
    await provePlanted(name, image, engine.environment);
  }
};

const verify = async () => {
  engine = await step('Docker engine and base images', () =>
    startEngine({ isOwn: values['own-engine'] }),
  );
  const images = engine.usesStandIns ? 'stand-ins' : 'the official images';
  console.log(`  ${engine.name}, on ${images}`);
  const buildFile = join(directory, 'build.json');
  writeBuildFile(buildFile, engine.usesStandIns);
  const files = [
    'infra/containers/verification.yml',
    ...(engine.usesStandIns ? ['infra/containers/stand-ins/compose.yml'] : []),
    buildFile,
  ];
  const project = async (suffix, variables) => {
    const name = `tessera-${process.pid}-${suffix}`;
    const created = await createProject(engine, { name, files, variables });
    projects.push(created);
    return created;
  };

  const all = await project('all');
  await step('build both images', () => all.compose(['build', '--progress', 'plain']));
  await step('their contents, and planted faults', checkImages);
  await step('docker compose up --wait', () => followStart(all));
  const system = await step('accounts by identity-admin', () => seedAccounts(all, directory));
  await step("the README's tour", () => followPages(directory));
  await step('confinement, ports and secrets', () => proveConfinement(all));
  await step('a picture is converted', () => provePicture(system));
  await step('a mail arrives', () => proveMail(system, all.ports.mail));
  const kills = await step('each container is killed once', () => killEach(all, system));
  for (const [name, time] of kills) report.note(name, time);
  await step('stop in good order, and start again', () => proveStop(all, system));
  await step('the system still works', () => proveWorks(system));
  await step('docker compose down --volumes', () => all.remove());

  const identity = await project('identity');
  const crm = await project('crm', { IDENTITY_URL: 'http://elsewhere:4000' });
  await step('identity alone, two replicas; CRM alone', () =>
    proveAlone(identity, crm, join(directory, 'alone')),
  );
};

/** Checks that removing the projects left nothing behind. */
const cleanUp = async () => {
  // The order matters: identity is also in the network of the CRM that runs alone.
  for (const project of projects) await project.remove();
  const left = (await Promise.all(projects.map((project) => project.left()))).flat();
  await engine.prune();
  if (left.length > 0) throw new Error(`Left behind: ${left.join(', ')}`);
};

const showLogs = async () => {
  for (const project of projects) console.error(await project.logs());
};

const interrupted = new Promise((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      isInterrupted = true;
      interruptCommands();
      reject(new Error(`Interrupted by ${signal}.`));
    });
  }
});

const failed = (error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
};

try {
  await Promise.race([verify(), interrupted]);
} catch (error) {
  failed(error);
  if (!isInterrupted) await showLogs().catch(failed);
}
if (engine) {
  await step('remove everything', cleanUp).catch(failed);
  await engine.stop().catch(failed);
}
rmSync(directory, { recursive: true, force: true });
if (!process.exitCode) console.log(`\n${report.text()}`);
