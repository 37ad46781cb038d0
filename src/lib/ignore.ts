/** A listener that does nothing. Without one, an error or a signal would end the process. */
export function ignore(): void {}
