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

test('reads numbers, switches and lists; what is empty counts as absent', () => {
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

test('names every variable that does not fit, and repeats no value', () => {
  const environment = {
    PORT: 's3cret',
    ORIGINS: 'https://a.example,s3cret',
    SECRET: 's3cret s3cret',
  };
  const read = () => readSettings(fields, environment);
  expect(read).toThrow(
    [
      'The configuration does not fit:',
      '- PORT must be an integer',
      '- ORIGINS.1 must be an origin',
      '- SECRET length must be less than or equal to 10 characters long',
      '- DATABASE_URL is required',
    ].join('\n'),
  );
  expect(read).not.toThrow('s3cret');
});

test.each(['https://app.example.com/', '*', 'app.example.com', 'https://*.example.com'])(
  'a browser would never send %s as its origin, which is told',
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
