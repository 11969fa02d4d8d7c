// The imports of a component, read from its binary form.

const MAGIC = [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00];
const IMPORTS = 10;

/** The names that a component imports, those inside nested components left out. */
export function imports(component) {
  if (MAGIC.some((byte, at) => component[at] !== byte)) throw new Error("it does not begin as a component does");
  const names = [];
  let position = MAGIC.length;
  const byte = () => {
    if (position >= component.length) throw new Error("it is cut off");
    return component[position++];
  };
  const number = () => {
    let value = 0;
    for (let place = 1; ; place *= 128) {
      const next = byte();
      value += (next & 127) * place;
      if (next < 128) return value;
    }
  };
  const imported = () => {
    byte();
    const size = number();
    names.push(new TextDecoder().decode(component.subarray(position, position + size)));
    position += size;
    const kind = byte();
    // A core module: its kind comes first.
    if (kind === 0) byte();
    // A type without a bound (or a value) has no index.
    if ((kind === 2 || kind === 3) && byte() !== 0) return;
    number();
  };
  while (position < component.length) {
    const section = byte();
    const size = number();
    const end = position + size;
    if (section === IMPORTS) for (let left = number(); left > 0; left -= 1) imported();
    position = end;
  }
  return names;
}
