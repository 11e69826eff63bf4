import { SendingPlaces, SHARE } from './places.ts';

test('A domain without an answer keeps one place, and none from the mail that tries an unavailable server', () => {
  const places = new SendingPlaces();
  places.unanswered('silent.test');
  expect(places.taken).toEqual({ 'silent.test': SHARE - 1 });
  places.unavailable();
  expect(places.taken).toEqual({});
});
