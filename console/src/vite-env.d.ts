// Scripts of workers, by address.
declare module '*?worker&url' {
  const address: string
  export default address
}
