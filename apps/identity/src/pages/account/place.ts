import type { Place } from '../../origin/places.ts';
import type { Reader } from '../visit.ts';

/** A location in the visitor's language, such as "Budapest, Hungary"; null if unknown. */
export const placeInWords = ({ language, texts }: Reader, place: Place | null): string | null => {
  const { devices } = texts.account;
  if (place === null) return null;
  if (place.reach === 'computer') return devices.thisComputer;
  if (place.reach === 'private_network') return devices.privateNetwork;
  const { country, cityNames } = place;
  const city = cityNames[language] ?? cityNames.en;
  const names = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' });
  const known = [city, country === null ? undefined : names.of(country)].filter(Boolean);
  return known.length === 0 ? null : known.join(', ');
};
