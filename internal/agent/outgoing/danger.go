package outgoing

// emergency are numbers and lines that help in an emergency.
const emergency = `(?:911|999|112|110|988|116|111|190|192|193|188|15|17|18|3114|emergency|ambulance|eins-?eins-?zwei|un-?un-?deux|um-?um-?dois|uno-?uno-?dos|notruf|rettung\p{L}*|telefonseelsorge|emergencias?|línea de (?:la )?crisis|línea de la vida|samu|urgences?|cvv|emergência|socorro|crisis line|helpline)` //nolint:misspell // other languages

// amount is a sum of money.
const amount = `(?:\d+(?:[.,]\d+)? ?(?:€|eur\b|dollars|reais|pesos)|[$€] ?\d)`

// masked are looked at in a text as it is read aloud, in small letters.
var masked = []rule{
	match(ProgramOnly,
		// The words that carriers act on, as words.
		anyWord+`(?:the word |replying |text(?:ing)? |reply |just text )(?:stop|start|unsubscribe)\b`, anyWord+`unsubscribe`, anyWord+`opt(?:ed|ing)?[ -]?out\b`,
		`^\s*(?:el |le |o |das |mot |la palabra )?(?:stop|alto|parar|arret|arrêt)\b[^.!?]{0,40}(?:\bno\b|nicht|kannst|ne\b|marche|sirve|funciona|received|não|already|doesn)`,
		anyWord+`(?:manda|mande|envía|envoie|répondez|reponds|antworte|schick|schreib|reply|text)(?: mit)? (?:inicio|iniciar|début|debut|start|stop|alto|arrêt|parar)\b`,
		anyWord+`won't hear from (?:us|me) again`, anyWord+`(?:off|from|out of) the list\b`, anyWord+`(?:fuera de la|da|de la|von der) list[ae]\b`,
		anyWord+`(?:ne faites|ne fais) plus partie`, anyWord+`(?:saiu|saíste|has salido|bist jetzt raus|sales) (?:do|del|aus dem) program`,
		anyWord+`(?:kündigung|abmeldung|cancelamento|résili\p{L}*|darte de baja|dar de baja|widerruf)\b`, anyWord+`(?:request|cancellation) (?:has been )?denied`,
		anyWord+`(?:annulé|anulei|anulé|storniert)\b[^.!?]{0,30}(?:remercier|faltava|falta)`, anyWord+`(?:arrêt|sair|salir|stop)\b[^.!?]{0,25}(?:annulé|anulei|anulé)`,
		// Consent.
		anyWord+`(?:terms|study conditions|studienbedingungen|condiciones del estudio|términos|termos|protocole?)\b`,
		anyWord+`(?:put you down as|down as having agreed|your yes from|sign anything)\b`, anyWord+`(?:stimmst du|stimmen sie)\b[^.!?]{0,30}\bzu\b`,
		anyWord+`(?:unterschrift|signature|firma del|tu firma|sua assinatura|tua assinatura|a assinatura)\b`, anyWord+`angekreuzt\b|coché pour\b|marqué por ti\b|marquei por\b|ticked the box`,
		anyWord+`(?:einwilligung|consentement|consentimento|consentimiento|autorización|autorizacion)\b`,
	),
	match(Danger,
		`(?:don't|do not|dont|no need to|never|nicht|nicht die|\bno|n'|ne |não|nunca)\s?(?:\p{L}+ ){0,2}(?:call|dial|ring|ruf\p{L}*|wähl\p{L}*|llames|llame|marques|appelle\p{L}*|appelez|ligue|liga|ligues)\b[^.!?]{0,25}\b`+emergency+`\b`,
		`(?:don'?t|donot|never|nicht|no|ne|nao|não|nunca)(?:call|dial|ring|ruf|llam|marqu|appel|lig)\p{L}{0,8}(?:911|999|112|110|988|190|192|15|17|18)\b`, // letter by letter
		`\b(?:call|ruf|rufe|llama|appelle|ligue|liga)\b[^.!?]{0,12}(?:nicht|\bno\b|pas|não)[^.!?]{0,15}\b`+emergency+`\b`,
		`\b`+emergency+`\b[^.!?]{0,40}(?:closed|busy|down|besetzt|gesperrt|überlastet|saturad|ya no existe|cerr[óa]|grève|fermé|occupé|não atende|fechad|lotad|only for|pour les vrais|só casos|nur für|demoran|demoram)`,
		`(?:nurses?|notfallteam|team|doctor|enfermera|médico|médecins?|arzt|ärztin|équipe|plantão|guardia)\b[^.!?]{0,40}(?:reading along|liest mit|lesen mit|viendo este|suit la conversation|lendo tudo|watching)`,
	),
	match(Dose,
		anyWord+`\d+(?:[.,]\d+)? ?(?:mg|mcg|µg|milligram\p{L}*|miligramos?|einheiten|unidades|unités|units)\b`, anyWord+`\d+ ?g (?:de |of )?(?:paracetamol|dipirona|ibuprofen)`,
		anyWord+`(?:half|a quarter|zwei|drei|halbe?|dos|tres|deux|trois|dois|três|two|three|un|uma?|une|one|another|\d+) (?:a |de |more )?(?:pills?|tablets?|tabletten?|pastillas?|comprimés?|comprimidos?|paracetamol\p{L}*|ibu\p{L}*|xanax|tavor|clonazepam|rivotril|lexomil|doliprane|dipironas?|valium|aspirin\p{L}*|ritalin)\b`,
		anyWord+`(?:skip|stop|weglassen|absetzen|sáltate|deja|dejar|laisse tomber|arrête|deixa|larga|double|twice as much|doppelt|el doble|le double|o dobro)\b[^.!?]{0,40}`+medicine,
		medicine+`[^.!?]{0,40}(?:weglassen|absetzen|skip|take twice|doppelt|sáltate|suspende|laisse)`,
		anyWord+`(?:súbele|sube|aumenta|erhöh\p{L}*|montes?|raise|up)\b[^.!?]{0,30}(?:insulina?e?|lantus|units|unidades)`,
	),
	match(Bill,
		anyWord+`(?:bill|statement|invoice|rechnung|factura|facture|fatura)\b[^.!?\n]{0,60}(?:`+amount+`|past due|offen|vencid|impay|em aberto)`,
		anyWord+`(?:charged|cost you|berechnet|costo|coste|facturé|custou|descontad\p{L}*|cobramos)[^.!?\n]{0,40}\d|`+amount+`[^.!?\n]{0,20}(?:berechnet|facturé)`,
		anyWord+`(?:of your data|datenvolumen|tus datos|forfait est|os dados)\b[^!?\n]{0,60}\d ?(?:gb|go)\b`,
	),
	match(Money,
		anyWord+`(?:venmo|paypal|cash ?app|zelle|bizum|pix|lydia|paysafecard|mb ?way|neosurf|google play|gift card|western union|bitcoin|iban)\b`,
		anyWord+`(?:de|es|fr|pt|at|ch)\d{2}(?: ?\d{4}){3,}`, `(?:^|\s)\$[a-z][a-z\d]{4,}`, anyWord+`tarjeta de (?:amazon|regalo|prepago)`, anyWord+`(?:überweis|transfier|vire-|transfere)\p{L}*\b[^.!?]{0,30}\d`, //nolint:misspell // other languages
	),
	match(Money, anyWord+`(?:text|send|sende|schick|envía|manda|envoie|envie|mande) [\p{L}\d]{2,12} (?:to|an|al|a|au|para|para o) \d{4,6}\b`),
	match(Secrets,
		anyWord+`ssn\b|on your social\b|maiden name`, anyWord+`(?:pin|nss)\b|eine tan\b`, anyWord+`sozialversicherung`, anyWord+`(?:six|6|seis|sechs|seis)[ -]?(?:digit|stellig\p{L}*|cifras|chiffres|dígitos)\b`,
		anyWord+`(?:foto|photo|picture)\b[^.!?]{0,20}(?:dni|perso\b|ausweis|passport|licen[cs]e|vitale|cartão de cidadão|carte|identi)`, anyWord+`code secret|am geldautomat|au distributeur|no multibanco|no cajero`,
		anyWord+`six chiffres|sechs ziffern|seis números`,
	),
	match(Link, `hxxps?:`, `\[\.\]`, anyWord+`(?:t\.me|discord\.gg|wa\.me|bit\.ly)/\S+`),
	{Number, false, findNumber},
}

// medicine are names of medicines that people ask coaches about, and the words for them.
const medicine = `(?:medicine|medication|meds|blood thinner|pills?|medikament\p{L}*|tabletten|blutverdünner|ramipril|medicación|medicamentos?|pastillas|losartán|metformin\p{L}*|médicaments?|previscan|remédios?|varfi\p{L}*|warfarin|insulin\p{L}*|sertralin\p{L}*|antidepress\p{L}*|antidepres\p{L}*|statin\p{L}*|beta-?blocker\p{L}*)`
