/** What is needed of the library, by name: of a module that is loaded late, a bundle keeps the default export alone. */
export { parse, stringify } from "yaml";
