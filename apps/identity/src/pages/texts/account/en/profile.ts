export const profile = {
  title: 'Profile',
  lead: 'Your name and picture are shown to people you work with.',
  picture: 'Picture',
  pictureAlt: 'Your picture',
  changePicture: 'Change picture',
  changeEmail: 'Change email address',
  languageHint: 'For these pages and the emails we send you.',
  timeZoneHint: 'We show dates and times in this time zone.',
  optional: 'Optional',
  submit: 'Save',
  pictureLead: 'We crop your picture to a square from its middle.',
  pictureHint:
    'JPEG, PNG, WebP, or GIF, at most 10 MB. Location and other hidden details are removed.',
  upload: 'Save picture',
  removePicture: 'Remove picture',
  back: 'Back to your profile',
  regions: {
    Africa: 'Africa',
    America: 'America',
    Antarctica: 'Antarctica',
    Arctic: 'Arctic',
    Asia: 'Asia',
    Atlantic: 'Atlantic',
    Australia: 'Australia',
    Europe: 'Europe',
    Indian: 'Indian Ocean',
    Pacific: 'Pacific',
  },
};

export type ProfileTexts = typeof profile;
