/** The part of @openpgp/seek-bzip (CommonJS, without types) that is used. */
declare module '@openpgp/seek-bzip' {
  const Bunzip: {
    /** @throws TypeError when the stream is damaged, and what writeByte() throws */
    decode(input: Uint8Array, output: { writeByte(byte: number): void }): void;
  };
  // biome-ignore lint/style/noDefaultExport: what importing it gives
  export default Bunzip;
}
