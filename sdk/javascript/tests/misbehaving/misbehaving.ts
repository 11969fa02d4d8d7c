// A unit for tests: goes wrong in every way that is special to JavaScript.

import { bytes, Failed, Refused, rowWise, setting, text } from "placewright";

interface Doubtful {
  total: any;
}

export default rowWise({
  host: { total: bytes("memory.total") },
  settings: { how: setting(text, { default: "well", meaning: "In what way it goes wrong." }) },
  reasons: { small: "is small" },

  prepare({ settings }) {
    if (settings.how === "refuses") throw new Refused("is not in the mood");
    return { how: settings.how, seen: 0 };
  },

  keep(prepared, host) {
    switch (prepared.how) {
      case "throws":
        return divide(host.total, null) > 1 || "small";
      case "throws a text":
        throw "in a temper";
      case "fails":
        throw new Failed("cannot go on");
      case "forgets to answer":
        return undefined as never;
      case "answers false":
        return false as never;
      case "misspells a reason":
        return "smal" as never;
      case "promises":
        return Promise.resolve(true) as never;
      case "misspells a field":
        return (host as any).totl > 0 || "small";
      case "changes a row":
        (host as Doubtful).total = 1;
        break;
      case "remembers":
        prepared.seen += 1;
        break;
      case "asks the clock":
        return Date.now() > 0 || "small";
      case "asks for today":
        return new Date().getFullYear() > 0 || "small";
      case "draws":
        return Math.random() < 2 || "small";
      case "waits":
        return (globalThis as any).setTimeout(() => {}, 1) > 0 || "small";
      case "prints":
        (globalThis as any).console.log("said in passing", host, [1, null]);
        break;
      case "takes memory": {
        const taken: number[][] = [];
        for (;;) taken.push(new Array(1_000_000).fill(1));
      }
      case "recurses":
        return endless(host.total) > 0 || "small";
      case "hangs":
        for (;;);
    }
    return host.total > 0 || "small";
  },
});

function divide(one: number, other: Doubtful | null): number {
  return one / other!.total;
}

function endless(depth: number): number {
  return endless(depth + 1) + 1;
}
