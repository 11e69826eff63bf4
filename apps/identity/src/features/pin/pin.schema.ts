import { described, matching, named, rawText, shape } from '@tessera/fields';

export const pin = described(
  matching(/^[0-9]{6}$/, '6 digits', 6),
  'Six digits, neither consecutive (123456) nor all equal',
  '192837',
);

export const NewPin = named('NewPin', shape({ pin, pin_confirmation: rawText(100) }));

export const ChangePin = named(
  'ChangePin',
  shape({ current_pin: pin, pin, pin_confirmation: rawText(100) }),
);

export const PasswordOfPin = shape({ password: rawText(1000) });
