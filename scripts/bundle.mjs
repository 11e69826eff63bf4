// Bundles the programs of a service from its build: a few large files load in less than half the CPU time of two
// thousand modules.
import { readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './bootstrap.mjs';

/**
 * Packages that stay outside, because they find files of their own beside their code (native modules, WebAssembly, the
 * modules of threads) or import CommonJS modules of their own dynamically (OpenTelemetry).
 */
const OUTSIDE =
  /^(@opentelemetry\/(?!api)[^/]+|@prisma\/client|bcrypt|ioredis|pino|piscina|sharp|undici)(\/|$)/;
/** What CommonJS modules find their files by. They would be undefined in the bundle. */
const PLACES = { __dirname: 'directoryOfTheModule', __filename: 'fileOfTheModule' };

/**
 * What each file of a bundle begins with: `require` for the CommonJS modules in it, and the URL of a module in it. (nft would
 * take a literal `new URL(..., import.meta.url)` for a file that is read.)
 */
const BEGINNING = `import { createRequire as createRequireOfBundle } from 'node:module';
const require = createRequireOfBundle(import.meta.url);
const urlOfModule = (path) => new URL(path, import.meta.url).href;`;

/** What follows `new URL(` in a module that finds a file by its own URL: a literal, or the beginning of a template. */
const FILE_BESIDE =
  /new URL\(\s*['"`](\.[^'"`$]*\/[^'"`$]*)(?:\$[^`]*)?['"`],\s*import\.meta\.url/g;

/**
 * Modules that find files beside them find them still: `import.meta.url` stays the URL of the module, relative to the
 * bundle. Adds these files, or their folders, to `besides`.
 */
const keepingUrls = (output, besides) => ({
  name: 'keeping-urls',
  setup(build) {
    build.onLoad({ filter: /\.m?js$/ }, ({ path }) => {
      const contents = readFileSync(path, 'utf8');
      if (!contents.includes('import.meta.url')) return undefined;
      for (const [, file] of contents.matchAll(FILE_BESIDE)) besides.add(join(dirname(path), file));
      const url = `urlOfModule(${JSON.stringify(relative(output, path))})`;
      return { contents: contents.replaceAll('import.meta.url', url), loader: 'js' };
    });
  },
});

/**
 * Whether a package stays outside. A dynamic import of CommonJS in a bundle has no named exports, so these stay outside as
 * well, except for the modules of the repository and oidc-provider, which every start of identity loads.
 */
const isOutside = (path, kind) =>
  OUTSIDE.test(path) ||
  (kind === 'dynamic-import' && !/^(@tessera\/|oidc-provider$)/.test(path) && !isBuiltin(path));

/** Packages outside are imported by their path relative to the bundle, because only the module that imports them has them. */
const outside = (output) => ({
  name: 'outside',
  setup(build) {
    build.onResolve(
      { filter: /^[^./]/ },
      async ({ path, importer, kind, resolveDir, pluginData }) => {
        if (pluginData === OUTSIDE || !isOutside(path, kind)) return undefined;
        const options = { importer, kind, resolveDir, pluginData: OUTSIDE };
        const { path: found, errors } = await build.resolve(path, options);
        return errors.length > 0 ? { errors } : { path: relative(output, found), external: true };
      },
    );
  },
});

/** Throws if a CommonJS module in the bundle finds files by its own place. */
const requireNoPlaces = (files) => {
  const places = new RegExp(`\\b(${Object.values(PLACES).join('|')})\\b.*`);
  const found = files.flatMap((path) => places.exec(readFileSync(path, 'utf8'))?.[0] ?? []);
  if (found.length === 0) return;
  throw new Error(
    `A package finds files beside its code, so it must stay outside: ${found.join('\n')}`,
  );
};

/**
 * Bundles the programs of a folder, named by their paths in it, into the folder `output`: `dist/main.js` becomes `main.js`
 * there. Returns absolute paths: of the `modules` in the bundle, and of the files and folders `besides` that they find by
 * their URLs.
 */
export const bundle = async (folder, programs, output) => {
  const { build } = await import('esbuild');
  const directory = resolve(output);
  const besides = new Set();
  const { metafile } = await build({
    absWorkingDir: resolve(folder),
    entryPoints: programs,
    outdir: directory,
    // All files are in one folder, so that a URL is relative to any of them.
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    allowOverwrite: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Without esbuild's own condition, for code that only bundlers understand.
    conditions: ['node'],
    banner: { js: BEGINNING },
    plugins: [keepingUrls(directory, besides), outside(directory)],
    define: PLACES,
    legalComments: 'inline',
    logLevel: 'warning',
    metafile: true,
  });
  requireNoPlaces(Object.keys(metafile.outputs).map((path) => join(resolve(folder), path)));
  const modules = Object.keys(metafile.inputs).map((path) => join(resolve(folder), path));
  return { modules, besides: [...besides] };
};

/** Programs that only tests start. */
const OF_TESTS = {
  identity: ['account-sweeper', 'dying-relay', 'noting-relay'],
  crm: ['killed-files', 'killed-publisher'],
};

/** Bundles the programs of both services in the build. */
const bundleServices = async () => {
  for (const [app, names] of Object.entries(OF_TESTS)) {
    const folder = join(root, 'apps', app);
    const output = join(folder, 'dist/bundle');
    rmSync(output, { recursive: true, force: true });
    const further = names.map((name) => `dist/testing/${name}.js`);
    await bundle(folder, ['dist/main.js', 'dist/cli.js', ...further], output);
  }
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleServices();
