# Loads the tables of this folder as data frames; Rscript load.R prints how many rows each has.
types <- list(
#TABLES#
)

classes <- c(
  string = "character", integer = "numeric", number = "numeric", boolean = "numeric", date = "character", datetime = "character"
)

load_table <- function(name, folder = ".") {
  kinds <- types[[name]]
  table <- read.csv(
    file.path(folder, paste0(name, ".csv")), colClasses = unname(classes[kinds]), na.strings = "", encoding = "UTF-8", check.names = FALSE
  )
  for (field in names(kinds)) {
    kind <- kinds[[field]]
    if (kind == "string") {
      table[[field]] <- sub("^'('*[=+@\t\r-])", "\\1", table[[field]])
    } else if (kind == "boolean") {
      table[[field]] <- table[[field]] == 1
    } else if (kind == "date") {
      table[[field]] <- as.Date(table[[field]])
    } else if (kind == "datetime") {
      text <- sub("Z$", "+0000", sub("([+-][0-9]{2}):([0-9]{2})$", "\\1\\2", table[[field]]))
      table[[field]] <- as.POSIXct(text, format = "%Y-%m-%dT%H:%M:%OS%z", tz = "UTC")
    }
  }
  table
}

load_all <- function(folder = ".") lapply(setNames(nm = names(types)), load_table, folder = folder)

if (sys.nframe() == 0) {
  for (name in names(types)) cat(name, nrow(load_table(name)), "\n")
}
