/** The part of the WebAssembly interface that zstd.ts uses; the library types for Node do not declare it. */
declare namespace WebAssembly {
  type Imports = Readonly<Record<string, unknown>>;
  type Exports = Readonly<Record<string, unknown>>;
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: Exports;
  }
}
