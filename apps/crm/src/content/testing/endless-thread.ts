/** A rendering that never ends. */
export default (): never => {
  for (;;);
};
