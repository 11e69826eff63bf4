import type { ChoiceGroup } from '../form.ts';

/** Zones that the runtime lists under a former name, with their current IANA name. */
const RENAMED: Readonly<Record<string, string>> = {
  'Africa/Asmera': 'Africa/Asmara',
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'America/Catamarca': 'America/Argentina/Catamarca',
  'America/Coral_Harbour': 'America/Atikokan',
  'America/Cordoba': 'America/Argentina/Cordoba',
  'America/Godthab': 'America/Nuuk',
  'America/Indianapolis': 'America/Indiana/Indianapolis',
  'America/Jujuy': 'America/Argentina/Jujuy',
  'America/Louisville': 'America/Kentucky/Louisville',
  'America/Mendoza': 'America/Argentina/Mendoza',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
  'Pacific/Enderbury': 'Pacific/Kanton',
  'Pacific/Ponape': 'Pacific/Pohnpei',
  'Pacific/Truk': 'Pacific/Chuuk',
};

const nameOf = (zone: string): string =>
  zone
    .slice(zone.indexOf('/') + 1)
    .replaceAll('_', ' ')
    .replaceAll('/', ', ');

const byName = ([, a]: readonly [string, string], [, b]: readonly [string, string]): number =>
  a.localeCompare(b, 'en');

/** All zones of the runtime by region, in alphabetical order. */
const zonesByRegion: ReadonlyMap<string, readonly (readonly [string, string])[]> = (() => {
  const regions = new Map<string, [string, string][]>();
  const zones = Intl.supportedValuesOf('timeZone').map((zone) => RENAMED[zone] ?? zone);
  for (const zone of [...new Set(zones)].filter((name) => name.includes('/')).sort()) {
    const region = zone.slice(0, zone.indexOf('/'));
    regions.set(region, [...(regions.get(region) ?? []), [zone, nameOf(zone)]]);
  }
  return new Map([...regions].map(([region, found]) => [region, found.sort(byName)]));
})();

const isListed = (zone: string): boolean =>
  [...zonesByRegion.values()].some((zones) => zones.some(([name]) => name === zone));

/** The time zones by region, including the current one even if it is not listed. */
export const timeZoneChoices = (
  regions: Readonly<Record<string, string>>,
  current: string,
): ChoiceGroup[] => {
  const others = [...new Set(['UTC', ...(isListed(current) ? [] : [current])])];
  return [
    { choices: others.map((zone) => [zone, zone] as const) },
    ...[...zonesByRegion].map(([region, choices]) => ({
      heading: regions[region] ?? region,
      choices,
    })),
  ];
};
