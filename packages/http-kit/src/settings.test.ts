import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bool, int, list, matching, oneOf, optional, text, withDefault } from '@tessera/fields';
import { readSettings, serviceVariables } from './index.ts';

const fields = {
  PORT: withDefault(int(0, 65_535), 4000),
  DEBUG: withDefault(bool(), false),
  ORIGINS: withDefault(list(matching(/^https:\/\/[^/]+$/, 'an origin', 100)), []),
  LEVEL: withDefault(oneOf('info', 'debug'), 'info'),
  SECRET: optional(text(10)),
  DATABASE_URL: text(100),
};

test('reads numbers, booleans and lists; empty variables count as unset', () => {
  const environment = {
    PORT: '5000',
    DEBUG: 'true',
    ORIGINS: 'https://a.example, https://b.example',
    LEVEL: '',
    DATABASE_URL: 'postgres://',
    HOME: '/root',
  };
  expect(readSettings(fields, environment)).toEqual({
    PORT: 5000,
    DEBUG: true,
    ORIGINS: ['https://a.example', 'https://b.example'],
    LEVEL: 'info',
    DATABASE_URL: 'postgres://',
  });
});

test('names every invalid variable and repeats no value', () => {
  const environment = {
    PORT: 's3cret',
    ORIGINS: 'https://a.example,s3cret',
    SECRET: 's3cret s3cret',
  };
  const read = () => readSettings(fields, environment);
  expect(read).toThrow(
    [
      'Invalid configuration:',
      '- PORT must be an integer',
      '- ORIGINS.1 must be an origin',
      '- SECRET length must be less than or equal to 10 characters long',
      '- DATABASE_URL is required',
    ].join('\n'),
  );
  expect(read).not.toThrow('s3cret');
});

test.each(['https://app.example.com/', '*', 'app.example.com', 'https://*.example.com'])(
  'rejects %s, which no browser sends as an origin',
  (origin) => {
    const environment = {
      DATABASE_URL: 'postgres://',
      CORS_ORIGINS: `http://localhost:3000,${origin}`,
    };
    expect(() => readSettings(serviceVariables(4000), environment)).toThrow(
      'CORS_ORIGINS.1 must be an origin such as https://app.example.com',
    );
  },
);

describe('a variable in a file', () => {
  const file = (content: string): string => {
    const path = join(mkdtempSync(join(tmpdir(), 'settings-')), 'secret');
    writeFileSync(path, content);
    return path;
  };

  test('is read without its final line break, also for lists', () => {
    const environment = {
      DATABASE_URL_FILE: file('postgres://from-a-file\n'),
      ORIGINS_FILE: file('https://a.example,https://b.example\r\n'),
    };
    expect(readSettings(fields, environment)).toMatchObject({
      DATABASE_URL: 'postgres://from-a-file',
      ORIGINS: ['https://a.example', 'https://b.example'],
    });
  });

  test('and in the environment as well is rejected as ambiguous', () => {
    const environment = { DATABASE_URL: 's3cret', DATABASE_URL_FILE: file('s3cret') };
    const read = () => readSettings(fields, environment);
    expect(read).toThrow('- DATABASE_URL and DATABASE_URL_FILE exclude each other');
    expect(read).not.toThrow('s3cret');
  });

  test.each([
    ['/does/not/exist', 'cannot be read (ENOENT)'],
    [tmpdir(), 'cannot be read (EISDIR)'],
    [file(''), 'is empty'],
  ])('%s: the error names variable and path, once', (path, problem) => {
    expect(() => readSettings(fields, { DATABASE_URL_FILE: path })).toThrow(
      /^Invalid configuration:\n- DATABASE_URL_FILE names [^\n]+$/,
    );
    expect(() => readSettings(fields, { DATABASE_URL_FILE: path })).toThrow(problem);
  });

  test('whose path is a secret is rejected without repeating the secret', () => {
    const read = () =>
      readSettings(fields, { DATABASE_URL_FILE: 'postgres://user:s3cret@host/db' });
    expect(read).toThrow('- DATABASE_URL_FILE names a file, which cannot be read (ENOENT)');
    expect(read).not.toThrow('s3cret');
  });

  test('is validated like any other value and not repeated', () => {
    const environment = { DATABASE_URL: 'postgres://', SECRET_FILE: file('s3cret s3cret') };
    const read = () => readSettings(fields, environment);
    expect(read).toThrow('- SECRET length must be');
    expect(read).not.toThrow('s3cret');
  });

  test('is ignored if its path is empty', () => {
    const environment = { DATABASE_URL: 'postgres://', DATABASE_URL_FILE: '' };
    expect(readSettings(fields, environment)).toMatchObject({ DATABASE_URL: 'postgres://' });
  });
});
