import { createLogger } from '@tessera/http-kit';
import { city, type PlaceFile, placeDatabase, placeFile } from '../testing/place-database.ts';
import { Places } from './places.ts';

const logger = createLogger('identity', 'silent');
const BUDAPEST = city('HU', { en: 'Budapest', de: 'Budapest' });
const VIENNA = city('AT', { en: 'Vienna', de: 'Wien' });

let file: PlaceFile;
beforeEach(async () => {
  file = await placeFile(
    placeDatabase({
      '203.0.113.0/24': BUDAPEST,
      '198.51.100.128/25': VIENNA,
      '192.0.2.0/24': { country_code: 'DE', city: 'Cologne' },
    }),
  );
});
afterEach(() => file.remove());

const started = async (path?: string): Promise<Places> => {
  const places = new Places(path, logger);
  await places.start();
  return places;
};

describe('the place of an address', () => {
  test.each([
    ['203.0.113.7', 'HU', { en: 'Budapest', de: 'Budapest' }],
    ['198.51.100.200', 'AT', { en: 'Vienna', de: 'Wien' }],
    ['198.51.100.1', null, {}],
    ['192.0.2.1', 'DE', { en: 'Cologne' }],
    ['2001:db8::1', null, {}],
  ])('comes from the configured database: %s', async (address, country, cityNames) => {
    const places = await started(file.path);
    expect(places.of(address)).toEqual({ reach: 'internet', country, cityNames });
    await places.stop();
  });

  test.each([
    ['127.0.0.1', 'computer'],
    ['::1', 'computer'],
    ['192.168.1.20', 'private_network'],
    ['10.1.2.3', 'private_network'],
    ['fd00::1', 'private_network'],
    ['203.0.113.7', 'internet'],
  ])('is only its scope without a database: %s', async (address, reach) => {
    const places = await started();
    expect(places.of(address)).toEqual({ reach, country: null, cityNames: {} });
  });

  test('follows a new database, and survives a damaged one', async () => {
    const places = await started(file.path);
    await file.replace(placeDatabase({ '203.0.113.0/24': VIENNA, '192.0.2.0/24': BUDAPEST }));
    await places.refresh();
    expect(places.of('203.0.113.7').country).toBe('AT');
    await file.replace(Buffer.from('not a database'));
    await expect(places.refresh()).rejects.toThrow();
    expect(places.of('203.0.113.7').country).toBe('AT');
    await places.stop();
  });
});

test('a database that cannot be read prevents the start, and the error names the setting', async () => {
  await file.replace(Buffer.from('not a database'));
  await expect(started(file.path)).rejects.toThrow(`GEOIP_DATABASE: ${file.path} cannot be read.`);
});
